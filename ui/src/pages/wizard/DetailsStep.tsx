import { Form, FormGroup, FormSelect, FormSelectOption, Title } from "@patternfly/react-core";
import { changeCluster } from "../../api/actions";
import { Facts } from "../../parts/Facts";
import { SavedField } from "../../parts/Field";
import { attempt } from "../../parts/notes";
import { ProblemsPanel } from "../../parts/problems/ProblemsPanel";
import { wrongDomain, wrongName } from "./names";
import { STEPS, type StepProps } from "./steps";

const owns = STEPS[0]?.owns;

export default function DetailsStep({ cluster }: StepProps) {
  const save = (field: string) => (value: string) => changeCluster(cluster.id, { [field]: value });
  return (
    <>
      <Title headingLevel="h2">Details</Title>
      <Form className="fl-narrow" onSubmit={(event) => event.preventDefault()}>
        <SavedField id="name" label="Cluster name" required value={cluster.name} onSave={save("name")} wrong={wrongName(cluster.name)} />
        <SavedField id="domain" label="Base domain" value={cluster.base_dns_domain ?? ""} onSave={save("base_dns_domain")} wrong={wrongDomain(cluster.base_dns_domain ?? "")} />
        <FormGroup label="Control plane nodes" fieldId="planes">
          <FormSelect
            id="planes"
            value={String(cluster.control_plane_count ?? 3)}
            onChange={(_, value) =>
              void attempt(() => changeCluster(cluster.id, { control_plane_count: Number(value) }), "The number was refused")
            }
          >
            {["1", "2", "3", "4", "5"].map((value) => (
              <FormSelectOption key={value} value={value} label={value} />
            ))}
          </FormSelect>
        </FormGroup>
        <SavedField
          id="cluster-ssh"
          label="SSH public key of the nodes"
          rows={2}
          value={cluster.ssh_public_key ?? ""}
          onSave={save("ssh_public_key")}
        />
        <SavedField
          id="ntp"
          label="More NTP sources"
          value={cluster.additional_ntp_source ?? ""}
          onSave={save("additional_ntp_source")}
          placeholder="ntp.example.com, 192.0.2.1"
          help="Comma-separated; used beside those DHCP names."
        />
      </Form>
      <Facts
        facts={[
          ["OpenShift version", cluster.openshift_version],
          ["Architecture", cluster.cpu_architecture],
          ["Platform", cluster.platform?.type],
        ]}
      />
      {owns && <ProblemsPanel clusterId={cluster.id} only={owns} title="Open questions" />}
    </>
  );
}
