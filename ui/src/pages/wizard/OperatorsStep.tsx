// Operators to install along with the cluster: bundles that belong together, or single ones.
import { Card, CardBody, CardHeader, CardTitle, Checkbox, Label, SearchInput, Title } from "@patternfly/react-core";
import { useState } from "react";
import { changeCluster } from "../../api/actions";
import { V2 } from "../../api/http";
import type { Bundle } from "../../api/types";
import { useLive } from "../../live/resources";
import { operatorTitle } from "../../operators";
import { attempt } from "../../parts/notes";
import { Failure, Waiting } from "../../parts/Waiting";
import type { StepProps } from "./steps";

export default function OperatorsStep({ cluster }: StepProps) {
  const bundles = useLive<readonly Bundle[]>(`${V2}/operators/bundles`, []).data ?? [];
  const live = useLive<readonly string[]>(`${V2}/supported-operators`, []);
  const [text, setText] = useState("");
  const known = (cluster.monitored_operators ?? []).filter(({ operator_type }) => operator_type === "olm");
  const chosen = new Set(known.filter(({ dependency_only }) => !dependency_only).map(({ name }) => name));
  const implied = new Set(known.filter(({ dependency_only }) => dependency_only).map(({ name }) => name));
  const set = (names: Iterable<string>): void =>
    void attempt(
      () => changeCluster(cluster.id, { olm_operators: [...new Set(names)].map((name) => ({ name })) }),
      "The operators were refused",
    );
  const toggle = (names: readonly string[], on: boolean): void =>
    set(on ? [...chosen, ...names] : [...chosen].filter((name) => !names.includes(name)));
  if (!live.data) return live.error ? <Failure title="The operators cannot be listed" live={live} /> : <Waiting />;
  return (
    <>
      <Title headingLevel="h2">Operators</Title>
      <p className="fl-subtle">Optional. What an operator needs is added by itself, and hosts are checked against it.</p>
      <div className="fl-grid">
        {bundles.map((bundle) => {
          const on = bundle.operators.every((name) => chosen.has(name) || implied.has(name));
          return (
            <Card key={bundle.id} isCompact>
              <CardHeader>
                <CardTitle component="h3">
                  <Checkbox
                    id={`bundle-${bundle.id}`}
                    label={bundle.title}
                    isChecked={on}
                    onChange={(_, checked) => toggle(bundle.operators, checked)}
                  />
                </CardTitle>
              </CardHeader>
              <CardBody>
                <p>{bundle.description}</p>
                <p className="fl-subtle fl-small">{bundle.operators.map(operatorTitle).join(", ")}</p>
              </CardBody>
            </Card>
          );
        })}
      </div>
      <SearchInput
        aria-label="Find operators"
        placeholder="Find operators"
        value={text}
        onChange={(_, value) => setText(value)}
        onClear={() => setText("")}
        className="fl-narrow"
      />
      <div className="fl-operators">
        {live.data
          .filter((name) => `${name} ${operatorTitle(name)}`.toLowerCase().includes(text.trim().toLowerCase()))
          .map((name) => (
            <div key={name} className="fl-row">
              <Checkbox
                id={`operator-${name}`}
                label={operatorTitle(name)}
                isChecked={chosen.has(name) || implied.has(name)}
                isDisabled={implied.has(name)}
                onChange={(_, checked) => toggle([name], checked)}
              />
              {implied.has(name) && <Label isCompact variant="outline">needed by another</Label>}
            </div>
          ))}
      </div>
    </>
  );
}
