import { Card, CardBody, CardTitle } from "@patternfly/react-core";
import type { Cluster } from "../../api/types";
import { Facts } from "../../parts/Facts";
import { Moment } from "../../parts/Moment";

export function DetailsCard({ cluster }: { readonly cluster: Cluster }) {
  return (
    <Card isCompact>
      <CardTitle component="h2">Details</CardTitle>
      <CardBody>
        <Facts
          facts={[
            ["OpenShift version", cluster.openshift_version],
            ["Base domain", cluster.base_dns_domain],
            ["Architecture", cluster.cpu_architecture],
            ["Control plane", `${cluster.control_plane_count ?? 3} nodes`],
            ["Platform", cluster.platform?.type],
            ["NTP sources", cluster.additional_ntp_source],
            ["Created", <Moment key="created" at={cluster.created_at} />],
            ["Owner", cluster.user_name],
            ["Id", <code key="id" className="fl-mono">{cluster.id}</code>],
          ]}
        />
      </CardBody>
    </Card>
  );
}
