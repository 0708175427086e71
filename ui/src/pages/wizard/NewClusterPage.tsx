// The first step: enough to create the cluster and its discovery image. Everything else can be said later.
import {
  ActionGroup,
  Alert,
  Breadcrumb,
  BreadcrumbItem,
  Button,
  Form,
  FormGroup,
  FormSelect,
  FormSelectOption,
  PageSection,
  Title,
} from "@patternfly/react-core";
import { type FormEvent, useState } from "react";
import { createCluster, createInfraEnv } from "../../api/actions";
import { sentence, V2 } from "../../api/http";
import type { OpenshiftVersion } from "../../api/types";
import { Field } from "../../parts/Field";
import { useLive } from "../../live/resources";
import { follow, go, paths } from "../../route";
import { wrongDomain, wrongName, wrongPullSecret } from "./names";

const CONTROL_PLANES = [
  ["3", "3 (highly available)"],
  ["1", "1 (single node)"],
  ["2", "2 (with an arbiter or fencing)"],
  ["4", "4"],
  ["5", "5"],
] as const;

const FIRST = { name: "", domain: "", version: "", architecture: "x86_64", planes: "3", secret: "", key: "" };

export default function NewClusterPage() {
  const versions = useLive<Readonly<Record<string, OpenshiftVersion>>>(`${V2}/openshift-versions`, []).data ?? {};
  const [form, setForm] = useState(FIRST);
  const [failure, setFailure] = useState("");
  const [busy, setBusy] = useState(false);
  const set = (name: keyof typeof FIRST) => (value: string) => setForm((before) => ({ ...before, [name]: value }));
  const offered = Object.entries(versions);
  const version = form.version || (offered.find(([, known]) => known.default)?.[0] ?? offered[0]?.[0] ?? "");
  const wrong = [wrongName(form.name), wrongDomain(form.domain), wrongPullSecret(form.secret)];
  const complete = form.name !== "" && form.secret.trim() !== "" && version !== "" && wrong.every((text) => text === "");
  const create = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (!complete || busy) return;
    setBusy(true);
    setFailure("");
    try {
      const cluster = await createCluster({
        name: form.name,
        openshift_version: version,
        base_dns_domain: form.domain,
        cpu_architecture: form.architecture,
        control_plane_count: Number(form.planes),
        high_availability_mode: form.planes === "1" ? "None" : "Full",
        pull_secret: form.secret.trim(),
        ssh_public_key: form.key.trim(),
      });
      await createInfraEnv({
        name: `${form.name}_infra-env`,
        cluster_id: cluster.id,
        openshift_version: version,
        cpu_architecture: form.architecture,
        pull_secret: form.secret.trim(),
        ssh_authorized_key: form.key.trim(),
      });
      go(paths.wizard(cluster.id, "operators"));
    } catch (refusal) {
      setFailure(sentence(refusal));
      setBusy(false);
    }
  };
  return (
    <>
      <PageSection hasBodyWrapper={false}>
        <Breadcrumb>
          <BreadcrumbItem to={paths.clusters} onClick={follow}>
            Clusters
          </BreadcrumbItem>
          <BreadcrumbItem isActive>New</BreadcrumbItem>
        </Breadcrumb>
        <Title headingLevel="h1">Create cluster</Title>
      </PageSection>
      <PageSection hasBodyWrapper={false} isFilled>
        <Form className="fl-narrow" onSubmit={(event) => void create(event)}>
          <Field
            id="cluster-name"
            label="Cluster name"
            required
            value={form.name}
            onChange={set("name")}
            wrong={wrongName(form.name)}
            help="Part of every address of the cluster, such as api.NAME.DOMAIN."
          />
          <Field
            id="base-domain"
            label="Base domain"
            value={form.domain}
            onChange={set("domain")}
            wrong={wrongDomain(form.domain)}
            placeholder="example.com"
            help="The DNS domain the cluster's names are made in."
          />
          <div className="fl-grid">
            <FormGroup label="OpenShift version" fieldId="version" isRequired>
              <FormSelect id="version" value={version} onChange={(_, value) => set("version")(value)}>
                {offered.map(([key, known]) => (
                  <FormSelectOption
                    key={key}
                    value={key}
                    label={`${known.display_name}${known.support_level === "production" ? "" : ` (${known.support_level})`}`}
                  />
                ))}
              </FormSelect>
            </FormGroup>
            <FormGroup label="CPU architecture" fieldId="architecture">
              <FormSelect id="architecture" value={form.architecture} onChange={(_, value) => set("architecture")(value)}>
                {(versions[version]?.cpu_architectures ?? ["x86_64"]).map((name) => (
                  <FormSelectOption key={name} value={name} label={name} />
                ))}
              </FormSelect>
            </FormGroup>
            <FormGroup label="Control plane nodes" fieldId="control-planes">
              <FormSelect id="control-planes" value={form.planes} onChange={(_, value) => set("planes")(value)}>
                {CONTROL_PLANES.map(([value, label]) => (
                  <FormSelectOption key={value} value={value} label={label} />
                ))}
              </FormSelect>
            </FormGroup>
          </div>
          <Field
            id="pull-secret"
            label="Pull secret"
            required
            secret
            rows={4}
            value={form.secret}
            onChange={set("secret")}
            wrong={wrongPullSecret(form.secret)}
            help="JSON text that opens the image registries. The service keeps it apart and never shows it again."
          />
          <Field
            id="ssh-key"
            label="SSH public key"
            rows={2}
            value={form.key}
            onChange={set("key")}
            placeholder="ssh-ed25519 …"
            help="Opens the machines while they are discovered, and the nodes afterwards. Useful when something goes wrong."
          />
          {failure && <Alert isInline variant="danger" title={failure} />}
          <ActionGroup>
            <Button type="submit" id="create" isDisabled={!complete || busy} isLoading={busy}>
              Create and go on
            </Button>
            <Button component="a" variant="link" href={paths.clusters} onClick={follow}>
              Cancel
            </Button>
          </ActionGroup>
        </Form>
      </PageSection>
    </>
  );
}
