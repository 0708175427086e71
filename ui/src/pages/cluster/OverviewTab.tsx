import { ProblemsPanel } from "../../parts/problems/ProblemsPanel";
import { DRAFT } from "../../words";
import { CredentialsCard } from "./CredentialsCard";
import { DetailsCard } from "./DetailsCard";
import { NetworksCard } from "./NetworksCard";
import { OperatorsCard } from "./OperatorsCard";
import { ProgressCard } from "./ProgressCard";
import type { TabProps } from "./tabs";

export default function OverviewTab({ cluster }: TabProps) {
  const draft = DRAFT.has(cluster.status);
  return (
    <div className="fl-grid">
      {!draft && (
        <div className="fl-wide">
          <ProgressCard cluster={cluster} />
        </div>
      )}
      {draft && (
        <div className="fl-wide">
          <ProblemsPanel clusterId={cluster.id} />
        </div>
      )}
      {cluster.status === "installed" && <CredentialsCard cluster={cluster} />}
      <DetailsCard cluster={cluster} />
      <NetworksCard cluster={cluster} />
      <OperatorsCard cluster={cluster} />
    </div>
  );
}
