// Operators the cluster waits for, with how each is doing.
import { Card, CardBody, CardTitle } from "@patternfly/react-core";
import type { Cluster, MonitoredOperator } from "../../api/types";
import { operatorTitle } from "../../operators";
import { State } from "../../parts/Status";
import type { Word } from "../../words";

const WORDS: Readonly<Record<string, Word>> = {
  available: { text: "Available", tone: "success" },
  progressing: { text: "Progressing", tone: "progress" },
  failed: { text: "Failed", tone: "danger" },
};
const NOT_YET: Word = { text: "Not installed yet", tone: "neutral" };

export function OperatorsCard({ cluster }: { readonly cluster: Cluster }) {
  const operators = cluster.monitored_operators ?? [];
  if (operators.length === 0) return null;
  return (
    <Card isCompact>
      <CardTitle component="h2">Operators</CardTitle>
      <CardBody>
        <ul className="fl-list">
          {operators.map((operator) => (
            <One key={operator.name} operator={operator} />
          ))}
        </ul>
      </CardBody>
    </Card>
  );
}

function One({ operator }: { readonly operator: MonitoredOperator }) {
  return (
    <li className="fl-row fl-between">
      <span className="fl-anywhere">
        {operatorTitle(operator.name)} {operator.version && <span className="fl-subtle fl-small">{operator.version}</span>}
      </span>
      <State word={WORDS[operator.status ?? ""] ?? NOT_YET} {...(operator.status_info ? { detail: operator.status_info } : {})} />
    </li>
  );
}
