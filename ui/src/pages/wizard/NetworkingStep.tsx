// Addresses and networks of the cluster; each field is saved as it is left.
import { Form, FormGroup, FormSelect, FormSelectOption, Radio, Title } from "@patternfly/react-core";
import { changeCluster } from "../../api/actions";
import { useNetworkMap } from "../../api/pictures";
import { SavedField } from "../../parts/Field";
import { More } from "../../parts/More";
import { attempt } from "../../parts/notes";
import { ProblemsPanel } from "../../parts/problems/ProblemsPanel";
import { Link } from "../../parts/Link";
import { freeAddresses } from "../../pictures/subnet";
import { paths } from "../../route";
import { addressesIn } from "./addresses";
import { STEPS, type StepProps } from "./steps";

const owns = STEPS.find(({ key }) => key === "networking")?.owns;
const PROPOSED = 24;
const NETWORK_TYPES = ["OVNKubernetes", "Cilium", "Calico", "CiscoACI", "None"];

export default function NetworkingStep({ cluster }: StepProps) {
  const change = (fields: Readonly<Record<string, unknown>>): Promise<unknown> => changeCluster(cluster.id, fields);
  const own = cluster.user_managed_networking ?? false;
  const networks = cluster.host_networks ?? [];
  const [network] = cluster.cluster_networks ?? [];
  const [service] = cluster.service_networks ?? [];
  const free = freeAddresses(useNetworkMap(cluster.id).data?.networks ?? [], PROPOSED);
  const machine = cluster.machine_networks?.[0]?.cidr ?? "";
  return (
    <>
      <Title headingLevel="h2">Networking</Title>
      <p className="fl-subtle">
        Hosts without DHCP get their addresses under <Link to={paths.wizard(cluster.id, "media")}>Boot media</Link>, before they boot.
      </p>
      <Form className="fl-narrow" onSubmit={(event) => event.preventDefault()}>
        <FormGroup label="Load balancing" role="radiogroup" fieldId="load-balancing">
          <Radio
            id="network-cluster"
            name="load-balancing"
            label="By the cluster"
            description="The cluster moves two addresses between its hosts. They must be free and in the hosts' network."
            isChecked={!own}
            onChange={() => void attempt(() => change({ user_managed_networking: false }), "It was refused")}
          />
          <Radio
            id="network-user"
            name="load-balancing"
            label="By you"
            description="Your load balancer and DNS lead api, api-int and *.apps to the hosts."
            isChecked={own}
            onChange={() => void attempt(() => change({ user_managed_networking: true }), "It was refused")}
          />
        </FormGroup>
        {networks.length > 0 && (
          <FormGroup label="Machine network" fieldId="machine-network">
            <FormSelect
              id="machine-network"
              value={machine}
              onChange={(_, cidr) => void attempt(() => change({ machine_networks: cidr ? [{ cidr }] : [] }), "The network was refused")}
            >
              <FormSelectOption value="" label="The network that contains the addresses" />
              {networks.map(({ cidr, host_ids }) => (
                <FormSelectOption key={cidr} value={cidr} label={`${cidr} (${host_ids.length} of ${cluster.total_host_count ?? 0} hosts)`} />
              ))}
            </FormSelect>
          </FormGroup>
        )}
        {!own && (
          <>
            <SavedField
              id="api-vip"
              choices={free}
              label="API address"
              required
              value={(cluster.api_vips ?? []).map(({ ip }) => ip).join(", ")}
              onSave={(text) => change({ api_vips: addressesIn(text) })}
              help="Where the API of the new cluster will be; free addresses are proposed. In dual stack: one address of each kind, with a comma."
            />
            <SavedField
              id="ingress-vip"
              choices={free}
              label="Ingress address"
              required
              value={(cluster.ingress_vips ?? []).map(({ ip }) => ip).join(", ")}
              onSave={(text) => change({ ingress_vips: addressesIn(text) })}
              help="Where applications and the console will be."
            />
          </>
        )}
        <More title="Cluster and service networks">
          <div className="fl-stack">
            <SavedField
              id="cluster-cidr"
              label="Cluster network"
              value={network?.cidr ?? ""}
              onSave={(cidr) => change({ cluster_networks: [{ cidr, host_prefix: network?.host_prefix ?? 23 }] })}
            />
            <SavedField
              id="host-prefix"
              label="Prefix length per host"
              value={String(network?.host_prefix ?? "")}
              onSave={(text) => change({ cluster_networks: [{ cidr: network?.cidr ?? "", host_prefix: Number(text) }] })}
            />
            <SavedField
              id="service-cidr"
              label="Service network"
              value={service?.cidr ?? ""}
              onSave={(cidr) => change({ service_networks: [{ cidr }] })}
            />
            <FormGroup label="Network type" fieldId="network-type">
              <FormSelect
                id="network-type"
                value={cluster.network_type ?? "OVNKubernetes"}
                onChange={(_, value) => void attempt(() => change({ network_type: value }), "The network type was refused")}
              >
                {NETWORK_TYPES.map((value) => (
                  <FormSelectOption key={value} value={value} label={value} />
                ))}
              </FormSelect>
            </FormGroup>
          </div>
        </More>
      </Form>
      {owns && <ProblemsPanel clusterId={cluster.id} only={owns} title="Problems of the network" />}
    </>
  );
}
