// The last look: everything that is set, everything that is open, and the button.
import { Alert, Button, Title } from "@patternfly/react-core";
import { useState } from "react";
import { actOnCluster } from "../../api/actions";
import { Confirm } from "../../parts/Confirm";
import { ProblemsPanel } from "../../parts/problems/ProblemsPanel";
import { counted } from "../../numbers";
import { go, paths } from "../../route";
import { DetailsCard } from "../cluster/DetailsCard";
import { NetworksCard } from "../cluster/NetworksCard";
import { OperatorsCard } from "../cluster/OperatorsCard";
import { PlanCard } from "./PlanCard";
import type { StepProps } from "./steps";

export default function ReviewStep({ cluster }: StepProps) {
  const [asking, setAsking] = useState(false);
  const ready = cluster.status === "ready";
  const hosts = counted(cluster.total_host_count ?? 0, "host");
  const install = async (): Promise<void> => {
    await actOnCluster(cluster.id, "install");
    go(paths.cluster(cluster.id));
  };
  return (
    <>
      <Title headingLevel="h2">Review and install</Title>
      {ready ? (
        <Alert isInline variant="success" title={`${cluster.name} is ready to install on ${hosts}.`} />
      ) : (
        <Alert isInline variant="info" title={cluster.status_info} />
      )}
      <Button id="install" className="fl-start" isDisabled={!ready} onClick={() => setAsking(true)}>
        Install cluster
      </Button>
      <ProblemsPanel clusterId={cluster.id} />
      <div className="fl-grid">
        <PlanCard cluster={cluster} />
        <DetailsCard cluster={cluster} />
        <NetworksCard cluster={cluster} />
        <OperatorsCard cluster={cluster} />
      </div>
      {asking && (
        <Confirm title={`Install ${cluster.name}?`} action="Install" danger={false} onConfirm={install} onClose={() => setAsking(false)}>
          The installation disks of all {hosts} are overwritten.
        </Confirm>
      )}
    </>
  );
}
