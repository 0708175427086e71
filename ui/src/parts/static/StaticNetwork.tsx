// Hosts without DHCP: one set of hosts, shown as a table, CSV, YAML or a preview; checked before it is saved.
import { Alert, Button, Card, CardBody, CardTitle, ToggleGroup, ToggleGroupItem } from "@patternfly/react-core";
import { useMemo, useState } from "react";
import { changeInfraEnv } from "../../api/actions";
import type { InfraEnv } from "../../api/types";
import { counted } from "../../numbers";
import { attempt } from "../notes";
import { storedHosts } from "./sheet";
import { SheetTable } from "./SheetTable";
import { CsvView, PreviewView, YamlView } from "./SheetViews";
import { type Sheet, useSheet } from "./useSheet";
import "./static.css";

const VIEWS = [
  ["table", "Table"],
  ["csv", "CSV"],
  ["yaml", "YAML"],
  ["preview", "Preview"],
] as const;
type View = (typeof VIEWS)[number][0];

export default function StaticNetwork({ infraEnv }: { readonly infraEnv: InfraEnv }) {
  const stored = useMemo(() => storedHosts(infraEnv.static_network_config), [infraEnv.static_network_config]);
  const sheet = useSheet(stored, infraEnv.openshift_version ?? "");
  const [view, setView] = useState<View>("table");
  const errors = sheet.problems.filter(({ severity }) => severity === "error");
  const save = (): void =>
    void attempt(
      () => changeInfraEnv(infraEnv.id, { static_network_config: sheet.entries.map(({ host }) => host) }),
      "The networks were refused",
      "The networks were saved. Images downloaded from now on contain them.",
    );
  return (
    <Card isCompact id="static-network">
      <CardTitle component="h3">Hosts without DHCP</CardTitle>
      <CardBody className="fl-stack">
        <p className="fl-subtle">Tell each host its network before it boots. Hosts that are not listed ask DHCP.</p>
        <ToggleGroup aria-label="View" isCompact>
          {VIEWS.map(([key, text]) => (
            <ToggleGroupItem
              key={key}
              buttonId={`static-view-${key}`}
              text={text}
              isSelected={view === key}
              // A row that cannot be read yet exists only in the table.
              isDisabled={key !== "table" && key !== view && (sheet.busy || sheet.refusal !== "")}
              onChange={() => setView(key)}
            />
          ))}
        </ToggleGroup>
        {view === "table" && <SheetTable sheet={sheet} onYaml={() => setView("yaml")} />}
        {view === "csv" && <CsvView sheet={sheet} />}
        {view === "yaml" && <YamlView sheet={sheet} />}
        {view === "preview" && <PreviewView sheet={sheet} />}
        <Verdict sheet={sheet} />
        {(sheet.changed || sheet.entries.length > 0) && (
          <div className="fl-row">
            <Button id="static-save" onClick={save} isDisabled={!sheet.changed || sheet.busy || sheet.refusal !== "" || errors.length > 0}>
              Save {counted(sheet.entries.length, "host")}
            </Button>
            {sheet.changed && (
              <Button variant="link" onClick={sheet.reset}>
                Undo
              </Button>
            )}
          </div>
        )}
      </CardBody>
    </Card>
  );
}

function Verdict({ sheet }: { readonly sheet: Sheet }) {
  const { refusal, problems, busy, entries } = sheet;
  if (refusal) return <Alert isInline isLiveRegion variant="danger" title={refusal} data-testid="static-refusal" />;
  if (busy || entries.length === 0) return null;
  if (problems.length === 0) return <Alert isInline isPlain isLiveRegion variant="success" title="Checked: nothing is wrong with these networks." data-testid="static-verdict" />;
  const [errors, warnings] = ["error", "warning"].map((kind) => problems.filter(({ severity }) => severity === kind));
  return (
    <div className="fl-stack" data-testid="static-verdict">
      {[errors, warnings].map(
        (some = [], place) =>
          some.length > 0 && (
            <Alert key={place} isInline isLiveRegion variant={place === 0 ? "danger" : "warning"} title={place === 0 ? "This would not work" : "This is possible, and rarely meant"}>
              <ul>
                {some.map((one) => (
                  <li key={`${one.host} ${one.code} ${one.interface} ${one.message}`}>
                    Host {one.host + 1}: {one.message}
                  </li>
                ))}
              </ul>
            </Alert>
          ),
      )}
    </div>
  );
}
