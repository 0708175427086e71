// Asks before something that cannot be taken back; where much is lost, the name has to be typed.
import { Alert, Button, Form, FormGroup, Modal, ModalBody, ModalFooter, ModalHeader, TextInput } from "@patternfly/react-core";
import { type ReactNode, useState } from "react";
import { sentence } from "../api/http";

interface Props {
  readonly title: string;
  readonly action: string;
  readonly children: ReactNode;
  readonly typed?: string;
  readonly danger?: boolean;
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
}

export function Confirm({ title, action, children, typed = "", danger = true, onConfirm, onClose }: Props) {
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState("");
  const confirm = async (): Promise<void> => {
    setBusy(true);
    try {
      await onConfirm();
      onClose();
    } catch (refusal) {
      setFailure(sentence(refusal));
      setBusy(false);
    }
  };
  return (
    <Modal isOpen variant="small" onClose={onClose} aria-labelledby="confirm-title">
      <ModalHeader title={title} labelId="confirm-title" {...(danger ? { titleIconVariant: "warning" as const } : {})} />
      <ModalBody>
        {children}
        {typed && (
          <Form className="fl-gap-top" onSubmit={(event) => event.preventDefault()}>
            <FormGroup label={`Type ${typed} to confirm`} fieldId="confirm-text">
              <TextInput id="confirm-text" value={text} onChange={(_, value) => setText(value)} autoComplete="off" />
            </FormGroup>
          </Form>
        )}
        {failure && <Alert className="fl-gap-top" isInline variant="danger" title={failure} />}
      </ModalBody>
      <ModalFooter>
        <Button
          id="confirm"
          variant={danger ? "danger" : "primary"}
          isLoading={busy}
          isDisabled={busy || text !== typed}
          onClick={() => void confirm()}
        >
          {action}
        </Button>
        <Button variant="link" onClick={onClose}>
          Cancel
        </Button>
      </ModalFooter>
    </Modal>
  );
}
