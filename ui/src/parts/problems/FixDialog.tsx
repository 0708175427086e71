// A fix as a form that is filled in already.
import { Alert, Button, Form, Modal, ModalBody, ModalFooter, ModalHeader } from "@patternfly/react-core";
import { type SyntheticEvent, useState } from "react";
import { applyFix } from "../../api/actions";
import { sentence } from "../../api/http";
import type { Fix } from "../../api/own";
import { Field } from "../Field";
import { isOnlyAnExample, textsIn, withTexts } from "./fixes";

export function FixDialog({ fix, onClose }: { readonly fix: Fix; readonly onClose: () => void }) {
  const fields = textsIn(fix);
  const example = isOnlyAnExample(fix);
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(fields.map(({ field, text }) => [field, example ? "" : text])),
  );
  const [failure, setFailure] = useState("");
  const [busy, setBusy] = useState(false);
  const apply = async (event: SyntheticEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setFailure("");
    try {
      await applyFix(withTexts(fix, texts));
      onClose();
    } catch (refusal) {
      setFailure(sentence(refusal));
      setBusy(false);
    }
  };
  const empty = fields.some(({ field }) => (texts[field] ?? "").trim() === "");
  return (
    <Modal isOpen variant="small" onClose={onClose} aria-labelledby="fix-title">
      <ModalHeader title={example ? "Set a base domain" : "Fix it with something else"} labelId="fix-title" />
      <ModalBody>
        <Form id="fix-form" onSubmit={(event) => void apply(event)}>
          {fields.map(({ field, label, text }) => (
            <Field
              key={field}
              id={`fix-${field}`}
              label={label}
              required
              value={texts[field] ?? ""}
              placeholder={text}
              onChange={(next) => setTexts((before) => ({ ...before, [field]: next.trim() }))}
            />
          ))}
        </Form>
        {failure && <Alert className="fl-gap-top fl-anywhere" isInline variant="danger" title={failure} />}
      </ModalBody>
      <ModalFooter>
        <Button type="submit" form="fix-form" id="fix-apply" isDisabled={busy || empty} isLoading={busy}>
          Apply
        </Button>
        <Button variant="link" onClick={onClose}>
          Cancel
        </Button>
      </ModalFooter>
    </Modal>
  );
}
