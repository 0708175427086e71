import { ProblemsPanel } from "../../parts/problems/ProblemsPanel";
import { DRAFT, INSTALLING } from "../../words";
import { CredentialsCard } from "./CredentialsCard";
import { FailedHosts } from "./FailedHosts";
import { DetailsCard } from "./DetailsCard";
import { NetworksCard } from "./NetworksCard";
import { OperatorsCard } from "./OperatorsCard";
import { ProgressCard } from "./ProgressCard";
import type { TabProps } from "./tabs";

const RUNNING = new Set(["installed", "adding-hosts"]);
/** States in which a failed host may still be tried again. */
const FAILING = new Set([...INSTALLING, "error"]);

export default function OverviewTab({ cluster }: TabProps) {
  const draft = DRAFT.has(cluster.status);
  return (
    <div className="fl-grid">
      {!draft && (
        <div className="fl-wide">
          <ProgressCard cluster={cluster} />
        </div>
      )}
      {FAILING.has(cluster.status) && <FailedHosts clusterId={cluster.id} />}
      {draft && (
        <div className="fl-wide">
          <ProblemsPanel clusterId={cluster.id} />
        </div>
      )}
      {RUNNING.has(cluster.status) && <CredentialsCard cluster={cluster} />}
      <DetailsCard cluster={cluster} />
      <NetworksCard cluster={cluster} />
      <OperatorsCard cluster={cluster} />
    </div>
  );
}
