import { EmptyState, EmptyStateBody, Spinner, Title } from "@patternfly/react-core";
import { useMemo } from "react";
import { hostsOfCluster } from "../../api/reads";
import { HostsPanel } from "../../parts/hosts/HostsPanel";
import { Link } from "../../parts/Link";
import { ProblemsPanel } from "../../parts/problems/ProblemsPanel";
import { paths } from "../../route";
import { STEPS, type StepProps } from "./steps";

const owns = STEPS.find(({ key }) => key === "hosts")?.owns;

export default function HostsStep({ cluster, host }: StepProps) {
  const place = useMemo(() => hostsOfCluster(cluster.id), [cluster.id]);
  return (
    <>
      <Title headingLevel="h2">Hosts</Title>
      <HostsPanel
        place={place}
        active={host}
        empty={
          <EmptyState headingLevel="h3" titleText="Waiting for hosts" icon={Spinner}>
            <EmptyStateBody>
              Boot machines from the <Link to={paths.wizard(cluster.id, "media")}>boot media</Link>. A machine appears here a
              minute or two after it booted. If none does, look at its console: the discovery image says there what it cannot
              reach.
            </EmptyStateBody>
          </EmptyState>
        }
      />
      {owns && <ProblemsPanel clusterId={cluster.id} only={owns} title="Problems of hosts" />}
    </>
  );
}
