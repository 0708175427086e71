// One change to one or thousands of hosts: names from a template, role, labels; seen before it happens.
import {
  Alert,
  FormGroup,
  FormHelperText,
  FormSelect,
  FormSelectOption,
  HelperText,
  HelperTextItem,
  NumberInput,
  TextInput,
} from "@patternfly/react-core";
import { useEffect, useState } from "react";
import { changeHosts } from "../../api/actions";
import { sentence } from "../../api/http";
import type { HostChange, HostChangeResult, HostRow } from "../../api/own";
import { counted } from "../../numbers";
import { Dialog } from "../Dialog";
import { note } from "../notes";
import { labelsIn } from "./labels";

const ROLES = [
  ["", "Leave as it is"],
  ["auto-assign", "Auto-assign"],
  ["master", "Control plane"],
  ["worker", "Worker"],
  ["arbiter", "Arbiter"],
] as const;
const SHOWN = 6;
const PAUSE = 250;

type Changed = Pick<HostRow, "id" | "infra_env_id" | "name">;

export function BulkChange({ hosts, onClose }: { readonly hosts: readonly Changed[]; readonly onClose: () => void }) {
  const single = hosts.length === 1 ? hosts[0] : undefined;
  const [name, setName] = useState(single?.name ?? "");
  const [first, setFirst] = useState(1);
  const [role, setRole] = useState("");
  const [labels, setLabels] = useState("");
  const [preview, setPreview] = useState<HostChangeResult>();
  const [failure, setFailure] = useState("");
  const parsed = labelsIn(labels);
  const renaming = name.trim() !== "" && name !== single?.name;
  const change: HostChange = {
    hosts: hosts.map(({ id, infra_env_id }) => ({ id, infra_env_id })),
    ...(renaming ? { name_template: name.trim(), first_number: first } : {}),
    ...(role ? { role } : {}),
    ...(parsed.labels ? { labels: parsed.labels } : {}),
  };
  const wanted = JSON.stringify(change);
  useEffect(() => {
    const timer = window.setTimeout(() => {
      changeHosts({ ...(JSON.parse(wanted) as HostChange), dry_run: true }).then(
        (result) => {
          setPreview(result);
          setFailure("");
        },
        (refusal: unknown) => setFailure(sentence(refusal)),
      );
    }, PAUSE);
    return () => window.clearTimeout(timer);
  }, [wanted]);
  const apply = async (): Promise<void> => {
    const { changed, results } = await changeHosts(change);
    const refused = results.filter(({ error }) => error);
    if (refused.length === 0) note("success", `${counted(changed, "host")} changed.`);
    else note("warning", `${counted(refused.length, "host")} not changed`, refused[0]?.error ?? "");
  };
  const empty = !renaming && !role && !parsed.labels;
  return (
    <Dialog
      id="bulk-apply"
      title={single ? `Change ${single.name}` : `Change ${counted(hosts.length, "host")}`}
      action={`Change ${counted(hosts.length, "host")}`}
      size="medium"
      ready={!empty && parsed.wrong === ""}
      wrong={failure}
      onAct={apply}
      onClose={onClose}
    >
      <FormGroup label={single ? "Name" : "Name template"} fieldId="bulk-name">
        <TextInput id="bulk-name" value={name} onChange={(_, value) => setName(value)} placeholder={single ? "" : "worker-{n:02}"} />
        <FormHelperText>
          <HelperText>
            <HelperTextItem>{"{n} counts, {n:02} with zeros before it; {role}, {serial} and {mac} are the host's own."}</HelperTextItem>
          </HelperText>
        </FormHelperText>
      </FormGroup>
      {!single && (
        <FormGroup label="First number" fieldId="bulk-first">
          <NumberInput
            value={first}
            min={0}
            inputName="bulk-first"
            inputAriaLabel="First number"
            onMinus={() => setFirst(Math.max(0, first - 1))}
            onPlus={() => setFirst(first + 1)}
            onChange={(event) => setFirst(Number(event.currentTarget.value) || 0)}
          />
        </FormGroup>
      )}
      <FormGroup label="Role" fieldId="bulk-role">
        <FormSelect id="bulk-role" value={role} onChange={(_, value) => setRole(value)}>
          {ROLES.map(([value, text]) => (
            <FormSelectOption key={value} value={value} label={text} />
          ))}
        </FormSelect>
      </FormGroup>
      <FormGroup label="Node labels" fieldId="bulk-labels">
        <TextInput
          id="bulk-labels"
          value={labels}
          onChange={(_, value) => setLabels(value)}
          placeholder="rack=7, zone=a, old-"
          validated={parsed.wrong ? "error" : "default"}
        />
        <FormHelperText>
          <HelperText>
            <HelperTextItem variant={parsed.wrong ? "error" : "default"}>
              {parsed.wrong ? `“${parsed.wrong}” is no label.` : "key=value sets a label, key- takes it away; the others stay."}
            </HelperTextItem>
          </HelperText>
        </FormHelperText>
      </FormGroup>
      {!empty && preview && <Preview hosts={hosts} result={preview} />}
    </Dialog>
  );
}

function Preview({ hosts, result }: { readonly hosts: readonly Changed[]; readonly result: HostChangeResult }) {
  const refused = result.results.filter(({ error }) => error);
  const old = new Map(hosts.map((row) => [row.id, row.name]));
  return (
    <div className="fl-preview" aria-live="polite">
      {refused.length > 0 && (
        <Alert
          isInline
          variant="warning"
          title={`${counted(refused.length, "host")} would stay as ${refused.length === 1 ? "it is" : "they are"}`}
        >
          {refused[0]?.error}
        </Alert>
      )}
      <ul className="fl-small">
        {result.results
          .filter(({ error }) => !error)
          .slice(0, SHOWN)
          .map(({ id, name }) => (
            <li key={id}>
              {old.get(id)} {old.get(id) !== name && <strong>→ {name}</strong>}
            </li>
          ))}
        {result.changed > SHOWN && <li className="fl-subtle">and {counted(result.changed - SHOWN, "more host")}</li>}
      </ul>
    </div>
  );
}
