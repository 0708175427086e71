import { Alert, Button, Form, Modal, ModalBody, ModalFooter, ModalHeader } from "@patternfly/react-core";
import { useState } from "react";
import { createInfraEnv } from "../../api/actions";
import { sentence } from "../../api/http";
import { Field } from "../../parts/Field";
import { go, paths } from "../../route";
import { wrongPullSecret } from "../wizard/names";

export function NewInfraEnv({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState("");
  const [secret, setSecret] = useState("");
  const [key, setKey] = useState("");
  const [failure, setFailure] = useState("");
  const [busy, setBusy] = useState(false);
  const create = async (): Promise<void> => {
    setBusy(true);
    try {
      const made = await createInfraEnv({ name, pull_secret: secret.trim(), ssh_authorized_key: key.trim() });
      go(paths.infraEnv(made.id));
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
