// A fix as a form that is filled in already.
import { useState } from "react";
import { applyFix } from "../../api/actions";
import type { Fix } from "../../api/own";
import { Dialog } from "../Dialog";
import { Field } from "../Field";
import { isOnlyAnExample, textsIn, withTexts } from "./fixes";

export function FixDialog({ fix, onClose }: { readonly fix: Fix; readonly onClose: () => void }) {
  const fields = textsIn(fix);
  const example = isOnlyAnExample(fix);
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(fields.map(({ field, text }) => [field, example ? "" : text])),
  );
  return (
    <Dialog
      id="fix-apply"
      title={example ? "Set a base domain" : "Fix it with something else"}
      action="Apply"
      ready={fields.every(({ field }) => (texts[field] ?? "").trim() !== "")}
      onAct={async () => applyFix(withTexts(fix, texts))}
      onClose={onClose}
    >
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
    </Dialog>
  );
}
