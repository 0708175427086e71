// Problems first, by cause: the list that stands between a cluster and its installation.
import { Card, CardBody, CardHeader, CardTitle } from "@patternfly/react-core";
import { useProblems } from "../../api/reads";
import type { Problem } from "../../api/own";
import { goWith } from "../../route";
import { counted } from "../../numbers";
import { More } from "../More";
import { State } from "../Status";
import { Failure, Waiting } from "../Waiting";
import { ProblemItem } from "./ProblemItem";

interface Props {
  readonly clusterId: string;
  /** Narrows to what one step of the wizard is about. */
  readonly only?: (problem: Problem) => boolean;
  readonly title?: string;
  /** What the problems stand in the way of. */
  readonly purpose?: string;
}

const OPENED = 3;

export function ProblemsPanel({ clusterId, only, title = "Problems", purpose = "solve before installing" }: Props) {
  const live = useProblems(clusterId);
  const all = live.data?.filter((problem) => only?.(problem) ?? true);
  const urgent = all?.filter((problem) => problem.blocking && !problem.waived) ?? [];
  const owed = urgent.filter(({ status }) => status !== "pending").length;
  const rest = all?.filter((problem) => !problem.blocking || problem.waived) ?? [];
  return (
    <Card id="problems" isCompact>
      <CardHeader>
        <CardTitle component="h2">
          {title}
          {all !== undefined && all.length > 0 && (
            <span className="fl-subtle fl-small"> {counted(owed, "thing")} to {purpose}</span>
          )}
        </CardTitle>
      </CardHeader>
      <CardBody>
        {all === undefined && (live.error ? <Failure title="The problems cannot be listed" live={live} /> : <Waiting />)}
        {all !== undefined && urgent.length === 0 && (
          <State word={{ text: "Every check that has to pass passes.", tone: "success" }} />
        )}
        <List clusterId={clusterId} problems={urgent} opened={OPENED} />
        {rest.length > 0 && (
          <More title={`${counted(rest.length, "more finding")} that ${rest.length === 1 ? "does" : "do"} not block`}>
            <List clusterId={clusterId} problems={rest} opened={0} />
          </More>
        )}
      </CardBody>
    </Card>
  );
}

/** The first few and those with a way out are open; a way out that was offered already opens nothing more. */
function openOnes(problems: readonly Problem[], opened: number): ReadonlySet<Problem> {
  const offered = new Set<string>();
  const open = new Set<Problem>();
  for (const [index, problem] of problems.entries()) {
    const titles = problem.cases.flatMap(({ fixes }) => fixes.map(({ title }) => title));
    const news = titles.some((title) => !offered.has(title));
    if (problem.status !== "pending" && (news || (index < opened && titles.length === 0))) open.add(problem);
    for (const title of titles) offered.add(title);
  }
  return open;
}

function List({ clusterId, problems, opened }: { readonly clusterId: string; readonly problems: readonly Problem[]; readonly opened: number }) {
  const open = opened > 0 ? openOnes(problems, opened) : new Set<Problem>();
  return (
    <ul className="fl-problems">
      {problems.map((problem) => (
        <ProblemItem
          key={`${problem.scope} ${problem.check} ${problem.cause} ${problem.status}`}
          clusterId={clusterId}
          problem={problem}
          open={open.has(problem)}
          onHost={(id) => goWith("host", id)}
        />
      ))}
    </ul>
  );
}
