// One problem: what, on how many hosts, what was measured, and what can be done about it here and now.
import { Button, ExpandableSection, Label } from "@patternfly/react-core";
import SyncAltIcon from "@patternfly/react-icons/dist/esm/icons/sync-alt-icon";
import { useState } from "react";
import { checkAgain, restore } from "../../api/actions";
import type { Problem, ProblemCase } from "../../api/own";
import { counted } from "../../numbers";
import { go, paths } from "../../route";
import { checkTitle } from "../../checks";
import { categoryName, type Tone } from "../../words";
import { attempt } from "../notes";
import { ToneIcon } from "../Status";
import { EvidenceList } from "./EvidenceList";
import { FixButton } from "./FixButton";
import { groupedCases } from "./grouping";
import { Measured } from "./Measured";
import { WaiveDialog } from "./WaiveDialog";

const FIRST = 5;

export function toneOf(problem: Pick<Problem, "status" | "blocking" | "waived">): Tone {
  if (problem.waived) return "neutral";
  if (problem.status === "pending") return "info";
  return problem.blocking ? "danger" : "warning";
}

interface Props {
  readonly clusterId: string;
  readonly problem: Problem;
  readonly open: boolean;
  readonly onHost: (hostId: string) => void;
}

export function ProblemItem({ clusterId, problem, open, onHost }: Props) {
  const [chosen, setChosen] = useState<boolean>();
  const expanded = chosen ?? open;
  const [all, setAll] = useState(false);
  const together = groupedCases(problem.cases);
  const cases = all ? together : together.slice(0, FIRST);
  return (
    <li className="fl-problem" data-testid={`problem-${problem.check}`}>
      <ExpandableSection
        isExpanded={expanded}
        onToggle={(_, next) => setChosen(next)}
        toggleContent={<Heading problem={problem} />}
        isIndented
      >
        <ul className="fl-cases">
          {cases.map((one) => (
            <Case key={one[0]?.host_id ?? ""} cases={one} onHost={onHost} />
          ))}
        </ul>
        {together.length > FIRST && !all && (
          <Button variant="link" isInline onClick={() => setAll(true)}>
            Show {together.length - FIRST} more
          </Button>
        )}
        {problem.waived && problem.waiver_reason && (
          <p className="fl-subtle">Waived because: {problem.waiver_reason}</p>
        )}
        <Actions clusterId={clusterId} problem={problem} />
      </ExpandableSection>
    </li>
  );
}

function Heading({ problem }: { readonly problem: Problem }) {
  return (
    <span className="fl-problem-head">
      <ToneIcon tone={toneOf(problem)} />
      <span className="fl-problem-name">{checkTitle(problem.check)}</span>
      {problem.scope === "host" && <Label isCompact variant="outline">{counted(problem.count, "host")}</Label>}
      {problem.waived && <Label isCompact color="grey">Waived</Label>}
      {!problem.waived && !problem.blocking && <Label isCompact color="yellow">Does not block</Label>}
      {!problem.waived && problem.status === "pending" && <Label isCompact color="blue">Waiting</Label>}
      <span className="fl-subtle fl-small">{categoryName(problem.category)}</span>
    </span>
  );
}

interface CaseProps {
  readonly cases: readonly ProblemCase[];
  readonly onHost: (hostId: string) => void;
}

function Case({ cases, onHost }: CaseProps) {
  const [one] = cases;
  if (!one) return null;
  const hosts = cases.flatMap(({ host_id: id, host_name: name }) => (id ? [{ id, name }] : []));
  return (
    <li className="fl-case">
      {hosts.length > 0 && (
        <p className="fl-case-hosts">
          {hosts.map(({ id, name }) => (
            <Button key={id} variant="link" isInline onClick={() => onHost(id)}>
              {name}
            </Button>
          ))}
        </p>
      )}
      <p className="fl-anywhere">{one.message}</p>
      <EvidenceList evidence={one.evidence} />
      <Measured finding={one} />
      {one.fixes.length > 0 && (
        <div className="fl-row">
          {one.fixes.map((fix) => (
            <FixButton key={fix.title} fix={fix} />
          ))}
        </div>
      )}
    </li>
  );
}

function Actions({ clusterId, problem }: { readonly clusterId: string; readonly problem: Problem }) {
  const [waiving, setWaiving] = useState(false);
  const hostIds = problem.cases.flatMap(({ host_id }) => (host_id ? [host_id] : []));
  const check = (): void =>
    void attempt(
      () => checkAgain(clusterId, { check: problem.check, host_ids: hostIds }),
      "The check could not be asked for",
      "Checked now. Hosts measure anew with their next call.",
    );
  return (
    <div className="fl-row fl-problem-actions">
      {problem.category !== "installation" && (
        <Button variant="link" size="sm" icon={<SyncAltIcon />} onClick={check} data-testid="check-now">
          Check now
        </Button>
      )}
      {problem.scope === "host" && (
        <Button
          variant="link"
          size="sm"
          onClick={() => go(`${paths.cluster(clusterId, "hosts")}?check=${encodeURIComponent(problem.check)}`)}
        >
          Show these hosts
        </Button>
      )}
      {problem.waived ? (
        <Button
          variant="link"
          size="sm"
          onClick={() => void attempt(() => restore(clusterId, problem.scope, problem.check), "It still counts as waived")}
        >
          Let it count again
        </Button>
      ) : (
        problem.waivable && (
          <Button variant="link" size="sm" onClick={() => setWaiving(true)} data-testid="waive">
            Let it pass…
          </Button>
        )
      )}
      {waiving && <WaiveDialog clusterId={clusterId} problem={problem} onClose={() => setWaiving(false)} />}
    </div>
  );
}
