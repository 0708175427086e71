import { Button, EmptyState, EmptyStateActions, EmptyStateBody, EmptyStateFooter } from "@patternfly/react-core";
import ServerIcon from "@patternfly/react-icons/dist/esm/icons/server-icon";
import { useMemo } from "react";
import { hostsOfCluster } from "../../api/reads";
import { HostsPanel } from "../../parts/hosts/HostsPanel";
import { follow, paths } from "../../route";
import { AddHosts } from "./AddHosts";
import type { TabProps } from "./tabs";

export default function HostsTab({ cluster, host }: TabProps) {
  const place = useMemo(() => hostsOfCluster(cluster.id), [cluster.id]);
  return (
    <div className="fl-stack">
      {cluster.status === "adding-hosts" && <AddHosts cluster={cluster} />}
      <HostsPanel
        place={place}
        active={host}
        empty={
          <EmptyState headingLevel="h2" titleText="No hosts yet" icon={ServerIcon}>
            <EmptyStateBody>Boot machines from the discovery image of this cluster. They appear here by themselves.</EmptyStateBody>
            <EmptyStateFooter>
              <EmptyStateActions>
                <Button component="a" href={paths.wizard(cluster.id, "media")} onClick={follow}>
                  Get the discovery image
                </Button>
              </EmptyStateActions>
            </EmptyStateFooter>
          </EmptyState>
        }
      />
    </div>
  );
}
