import { Alert, Button, Form, Modal, ModalBody, ModalFooter, ModalHeader } from "@patternfly/react-core";
import { useState } from "react";
import { createInfraEnv } from "../../api/actions";
import { sentence } from "../../api/http";
import type { Cluster } from "../../api/types";
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
  const [failure, setFailure] = useState("");
  const [busy, setBusy] = useState(false);
  const create = async (): Promise<void> => {
    setBusy(true);
    try {
      const made = await createInfraEnv({
        name,
        pull_secret: secret.trim(),
        ssh_authorized_key: key.trim(),
        ...(cluster
          ? { cluster_id: cluster.id, openshift_version: cluster.openshift_version, cpu_architecture: cluster.cpu_architecture }
          : {}),
      });
      if (cluster) onClose();
      else go(paths.infraEnv(made.id));
    } catch (refusal) {
      setFailure(sentence(refusal));
      setBusy(false);
    }
  };
  const complete = name !== "" && secret.trim() !== "" && wrongPullSecret(secret) === "";
  return (
    <Modal isOpen variant="medium" onClose={onClose} aria-labelledby="new-infra-env">
      <ModalHeader title="Create an infrastructure environment" labelId="new-infra-env" />
      <ModalBody>
        <Form onSubmit={(event) => event.preventDefault()}>
          <Field id="infra-env-name" label="Name" required value={name} onChange={setName} />
          <Field id="infra-env-secret" label="Pull secret" required secret rows={4} value={secret} onChange={setSecret} wrong={wrongPullSecret(secret)} />
          <Field id="infra-env-key" label="SSH public key" rows={2} value={key} onChange={setKey} />
        </Form>
        {failure && <Alert className="fl-gap-top" isInline variant="danger" title={failure} />}
      </ModalBody>
      <ModalFooter>
        <Button id="make-infra-env" isDisabled={!complete || busy} isLoading={busy} onClick={() => void create()}>
          Create
        </Button>
        <Button variant="link" onClick={onClose}>
          Cancel
        </Button>
      </ModalFooter>
    </Modal>
  );
}
