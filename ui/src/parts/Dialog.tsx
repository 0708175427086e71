// The frame of every dialog: a form, what was refused below what was typed, and the two ways out of it.
import { Alert, Button, Form, Modal, ModalBody, ModalFooter, ModalHeader } from "@patternfly/react-core";
import { type ReactNode, type SyntheticEvent, useState } from "react";
import { sentence } from "../api/http";

interface Props {
  /** Of the button that does it. */
  readonly id: string;
  readonly title: string;
  /** What the button says; without it there is nothing to do but to read. */
  readonly action: string;
  readonly size?: "small" | "medium" | "large";
  readonly warning?: boolean;
  readonly danger?: boolean;
  /** All that is needed was given. */
  readonly ready?: boolean;
  /** What is known to be wrong before anything is done. */
  readonly wrong?: string;
  readonly children: ReactNode;
  /** The dialog closes when it went well, and tells why it did not. */
  readonly onAct?: () => Promise<unknown>;
  readonly onClose: () => void;
}

const nothing = (): Promise<void> => Promise.resolve();

export function Dialog({ id, title, action, size = "small", warning = false, danger = false, ready = true, wrong = "", children, onAct = nothing, onClose }: Props) {
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState("");
  const act = async (event: SyntheticEvent): Promise<void> => {
    event.preventDefault();
    // React passes it on to whatever the dialog was opened from, which may be a form itself.
    event.stopPropagation();
    if (busy || !ready || !action) return;
    setBusy(true);
    setRefusal("");
    try {
      await onAct();
      onClose();
    } catch (failure) {
      setRefusal(sentence(failure));
      setBusy(false);
    }
  };
  const failure = refusal || wrong;
  return (
    <Modal isOpen variant={size} onClose={onClose} aria-labelledby={`${id}-title`}>
      <ModalHeader title={title} labelId={`${id}-title`} {...(warning || danger ? { titleIconVariant: "warning" as const } : {})} />
      <ModalBody>
        <Form id={`${id}-form`} onSubmit={(event) => void act(event)}>
          {children}
        </Form>
        {failure && <Alert className="fl-gap-top fl-anywhere" isInline variant="danger" title={failure} />}
      </ModalBody>
      <ModalFooter>
        {action && (
          <Button id={id} type="submit" form={`${id}-form`} variant={danger ? "danger" : "primary"} isLoading={busy} isDisabled={busy || !ready}>
            {action}
          </Button>
        )}
        <Button variant="link" onClick={onClose}>
          {action ? "Cancel" : "Close"}
        </Button>
      </ModalFooter>
    </Modal>
  );
}
