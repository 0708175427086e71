// Files of the cluster to take away: credentials, logs, what was generated, custom manifests.
import { Card, CardBody, CardTitle } from "@patternfly/react-core";
import { files } from "../../api/actions";
import type { Cluster } from "../../api/types";
import { moment } from "../../numbers";
import { FileLink } from "../../parts/FileLink";
import { ManifestsCard } from "../../parts/manifests/ManifestsCard";
import { DRAFT } from "../../words";
import type { TabProps } from "./tabs";

type File = readonly [string, string, string];

const CREDENTIALS: readonly File[] = [
  ["kubeconfig", "kubeconfig", "with the ingress certificate, once the cluster is installed"],
  ["kubeconfig-noingress", "kubeconfig-noingress", "from the start of the installation"],
  ["kubeadmin-password", "kubeadmin-password", "of the first administrator"],
];
const GENERATED: readonly File[] = [
  ["install-config.yaml", "install-config.yaml", "what was handed to the installer"],
  ["bootstrap.ign", "bootstrap.ign", "Ignition of the bootstrap host"],
  ["master.ign", "master.ign", "Ignition of the control plane"],
  ["worker.ign", "worker.ign", "Ignition of the workers"],
  ["metadata.json", "metadata.json", "of the installer"],
];

export default function FilesTab({ cluster }: TabProps) {
  const draft = DRAFT.has(cluster.status);
  return (
    <div className="fl-grid">
      {draft ? (
        <Card isCompact className="fl-wide">
          <CardBody>Credentials, logs and generated files appear here when the installation begins.</CardBody>
        </Card>
      ) : (
        <>
          <FileCard title="Credentials" items={CREDENTIALS} link={(name) => files.credentials(cluster.id, name)} />
          <FileCard title="Generated files" items={GENERATED} link={(name) => files.file(cluster.id, name)} />
          <LogsCard cluster={cluster} />
        </>
      )}
      <ManifestsCard cluster={cluster} />
    </div>
  );
}

function FileCard({ title, items, link }: { readonly title: string; readonly items: readonly File[]; readonly link: (name: string) => string }) {
  return (
    <Card isCompact>
      <CardTitle component="h2">{title}</CardTitle>
      <CardBody>
        <ul className="fl-list">
          {items.map(([name, label, text]) => (
            <li key={name}>
              <FileLink href={link(name)} name={label} /> <span className="fl-subtle fl-small">{text}</span>
            </li>
          ))}
        </ul>
      </CardBody>
    </Card>
  );
}

function LogsCard({ cluster }: { readonly cluster: Cluster }) {
  return (
    <Card isCompact>
      <CardTitle component="h2">Logs</CardTitle>
      <CardBody>
        <ul className="fl-list">
          <li>
            <a href={files.logs(cluster.id)}>Everything</a>{" "}
            <span className="fl-subtle fl-small">of the cluster and its hosts, as one archive</span>
          </li>
          {moment(cluster.controller_logs_collected_at) && (
            <li>
              <a href={files.controllerLogs(cluster.id)}>Controller</a>{" "}
              <span className="fl-subtle fl-small">from inside the new cluster</span>
            </li>
          )}
        </ul>
      </CardBody>
    </Card>
  );
}
