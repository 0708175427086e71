// A new pool with an image of its own.
import { useState } from "react";
import { createInfraEnv } from "../../api/actions";
import type { Cluster } from "../../api/types";
import { Dialog } from "../../parts/Dialog";
import { Field } from "../../parts/Field";
import { go, paths } from "../../route";
import { wrongPullSecret } from "../wizard/names";

interface Props {
  /** The environment is for this cluster's hosts alone. */
  readonly cluster?: Cluster;
  readonly onClose: () => void;
}

export function NewInfraEnv({ cluster, onClose }: Props) {
  const [name, setName] = useState(cluster ? `${cluster.name}_infra-env` : "");
  const [secret, setSecret] = useState("");
  const [key, setKey] = useState("");
  const create = async (): Promise<void> => {
    const made = await createInfraEnv({
      name,
      pull_secret: secret.trim(),
      ssh_authorized_key: key.trim(),
      ...(cluster
        ? { cluster_id: cluster.id, openshift_version: cluster.openshift_version, cpu_architecture: cluster.cpu_architecture }
        : {}),
    });
    if (!cluster) go(paths.infraEnv(made.id));
  };
  const complete = name !== "" && secret.trim() !== "" && wrongPullSecret(secret) === "";
  return (
    <Dialog id="make-infra-env" title="Create an infrastructure environment" action="Create" size="medium" ready={complete} onAct={create} onClose={onClose}>
      <Field id="infra-env-name" label="Name" required value={name} onChange={setName} />
      <Field id="infra-env-secret" label="Pull secret" required secret rows={4} value={secret} onChange={setSecret} wrong={wrongPullSecret(secret)} />
      <Field id="infra-env-key" label="SSH public key" rows={2} value={key} onChange={setKey} />
    </Dialog>
  );
}
