// Name and role of one host, changed in place.
import { Button, Form, FormGroup, FormSelect, FormSelectOption, Grid, GridItem, TextInput } from "@patternfly/react-core";
import { useState } from "react";
import { changeHost } from "../../api/actions";
import type { Host, Inventory } from "../../api/types";
import { EDITABLE_HOST } from "../../words";
import { attempt } from "../notes";

const ROLES = [
  ["auto-assign", "Auto-assign"],
  ["master", "Control plane"],
  ["worker", "Worker"],
  ["arbiter", "Arbiter"],
] as const;

export function HostEdit({ host, inventory }: { readonly host: Host; readonly inventory: Inventory }) {
  const present = host.requested_hostname || inventory.hostname || "";
  const [name, setName] = useState<string>();
  const shown = name ?? present;
  if (!EDITABLE_HOST.has(host.status)) return null;
  const rename = async (): Promise<void> => {
    if (await attempt(() => changeHost(host, { host_name: shown }), "The name was refused", "Renamed.")) setName(undefined);
  };
  return (
    <Form
      onSubmit={(event) => {
        event.preventDefault();
        void rename();
      }}
    >
      <Grid hasGutter>
        <GridItem sm={7}>
          <FormGroup label="Name" fieldId="host-name">
            <div className="fl-row fl-nowrap">
              <TextInput id="host-name" value={shown} onChange={(_, value) => setName(value)} />
              {name !== undefined && name !== present && (
                <Button type="submit" variant="secondary" id="rename-host">
                  Rename
                </Button>
              )}
            </div>
          </FormGroup>
        </GridItem>
        <GridItem sm={5}>
          <FormGroup label="Role" fieldId="host-role">
            <FormSelect
              id="host-role"
              value={host.role ?? "auto-assign"}
              onChange={(_, value) => void attempt(() => changeHost(host, { host_role: value }), "The role was refused")}
            >
              {ROLES.map(([value, text]) => (
                <FormSelectOption key={value} value={value} label={text} />
              ))}
            </FormSelect>
          </FormGroup>
        </GridItem>
      </Grid>
    </Form>
  );
}
