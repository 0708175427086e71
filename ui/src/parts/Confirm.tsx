// Asks before something that cannot be taken back; where much is lost, the name has to be typed.
import { FormGroup, TextInput } from "@patternfly/react-core";
import { type ReactNode, useState } from "react";
import { Dialog } from "./Dialog";

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
  return (
    <Dialog id="confirm" title={title} action={action} danger={danger} ready={text === typed} onAct={onConfirm} onClose={onClose}>
      <div>{children}</div>
      {typed && (
        <FormGroup label={`Type ${typed} to confirm`} fieldId="confirm-text">
          <TextInput id="confirm-text" value={text} onChange={(_, value) => setText(value)} autoComplete="off" />
        </FormGroup>
      )}
    </Dialog>
  );
}
