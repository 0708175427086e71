import { Card, CardBody, CardTitle } from "@patternfly/react-core";
import type { Cluster } from "../../api/types";
import { Facts } from "../../parts/Facts";

const joined = (values: readonly string[] | undefined): string => (values ?? []).join(", ") || "—";

export function NetworksCard({ cluster }: { readonly cluster: Cluster }) {
  return (
    <Card isCompact>
      <CardTitle component="h2">Networks</CardTitle>
      <CardBody>
        <Facts
          facts={[
            ["API addresses", joined(cluster.api_vips?.map(({ ip }) => ip))],
            ["Ingress addresses", joined(cluster.ingress_vips?.map(({ ip }) => ip))],
            ["Machine networks", joined(cluster.machine_networks?.map(({ cidr }) => cidr))],
            ["Cluster networks", joined(cluster.cluster_networks?.map(({ cidr, host_prefix }) => `${cidr} (/${host_prefix})`))],
            ["Service networks", joined(cluster.service_networks?.map(({ cidr }) => cidr))],
            ["Network type", cluster.network_type],
            ["Load balancer", cluster.user_managed_networking ? "yours" : "the cluster's"],
          ]}
        />
      </CardBody>
    </Card>
  );
}
