// Letting a check pass needs a reason that others can read later.
import { Alert, Button, Form, FormGroup, Modal, ModalBody, ModalFooter, ModalHeader, TextArea } from "@patternfly/react-core";
import { useState } from "react";
import { waive } from "../../api/actions";
import { sentence } from "../../api/http";
import type { Problem } from "../../api/own";
import { checkTitle } from "../../checks";

interface Props {
  readonly clusterId: string;
  readonly problem: Problem;
  readonly onClose: () => void;
}

export function WaiveDialog({ clusterId, problem, onClose }: Props) {
  const [reason, setReason] = useState("");
  const [failure, setFailure] = useState("");
  const [busy, setBusy] = useState(false);
  const confirm = async (): Promise<void> => {
    setBusy(true);
    try {
      await waive(clusterId, problem.scope, problem.check, reason);
      onClose();
    } catch (refusal) {
      setFailure(sentence(refusal));
      setBusy(false);
    }
  };
  return (
    <Modal isOpen variant="small" onClose={onClose} aria-labelledby="waive-title">
      <ModalHeader title={`Let “${checkTitle(problem.check)}” pass?`} labelId="waive-title" titleIconVariant="warning" />
      <ModalBody>
        <p>
          The check no longer stands in the way of this cluster&apos;s installation
          {problem.scope === "host" ? ", on any of its hosts" : ""}. The cluster may not be supported then.
        </p>
        <Form className="fl-gap-top" onSubmit={(event) => event.preventDefault()}>
          <FormGroup label="Reason" isRequired fieldId="waive-reason">
            <TextArea
              id="waive-reason"
              value={reason}
              maxLength={500}
              rows={3}
              onChange={(_, value) => setReason(value)}
              placeholder="Who decided it, and why it is all right here"
            />
          </FormGroup>
        </Form>
        {failure && <Alert isInline variant="danger" title={failure} className="fl-gap-top" />}
      </ModalBody>
      <ModalFooter>
        <Button id="waive" isDisabled={busy || reason.trim() === ""} isLoading={busy} onClick={() => void confirm()}>
          Let it pass
        </Button>
        <Button variant="link" onClick={onClose}>
          Cancel
        </Button>
      </ModalFooter>
    </Modal>
  );
}
