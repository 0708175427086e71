// One labelled input with help below it; what is wrong with it stands in the place of the help.
import {
  FormGroup,
  FormHelperText,
  HelperText,
  HelperTextItem,
  TextArea,
  TextInput,
} from "@patternfly/react-core";
import { useEffect, useState } from "react";

interface Props {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly help?: string;
  readonly wrong?: string;
  readonly required?: boolean;
  readonly rows?: number;
  readonly placeholder?: string;
  readonly disabled?: boolean;
  readonly secret?: boolean;
  /** Proposed while typing. */
  readonly choices?: readonly string[];
}

const NONE: readonly string[] = [];

export function Field({ id, label, value, onChange, help = "", wrong = "", required = false, rows = 0, placeholder = "", disabled = false, secret = false, choices = NONE }: Props) {
  const shared = {
    id,
    value,
    placeholder,
    isRequired: required,
    isDisabled: disabled,
    validated: wrong ? ("error" as const) : ("default" as const),
    "aria-describedby": `${id}-help`,
    autoComplete: "off",
    spellCheck: false,
  };
  return (
    <FormGroup label={label} fieldId={id} isRequired={required}>
      {rows > 0 ? (
        <TextArea {...shared} rows={rows} resizeOrientation="vertical" onChange={(_, next) => onChange(next)} className={secret ? "fl-mono" : ""} />
      ) : (
        <TextInput {...shared} {...(choices.length > 0 ? { list: `${id}-choices` } : {})} onChange={(_, next) => onChange(next)} />
      )}
      {choices.length > 0 && (
        <datalist id={`${id}-choices`}>
          {choices.map((choice) => (
            <option key={choice} value={choice} />
          ))}
        </datalist>
      )}
      {(help || wrong) && (
        <FormHelperText>
          <HelperText id={`${id}-help`} isLiveRegion>
            <HelperTextItem variant={wrong ? "error" : "default"}>{wrong || help}</HelperTextItem>
          </HelperText>
        </FormHelperText>
      )}
    </FormGroup>
  );
}

type SavedProps = Omit<Props, "onChange"> & { readonly onSave: (value: string) => Promise<unknown> };

/** Saves itself when it is left or Enter is pressed; a refusal stays below it with what was typed. */
export function SavedField({ value, onSave, wrong = "", ...rest }: SavedProps) {
  const [text, setText] = useState(value);
  const [refusal, setRefusal] = useState("");
  useEffect(() => {
    setText(value);
    setRefusal("");
  }, [value]);
  const save = (): void => {
    if (text === value) return;
    onSave(text).then(
      () => setRefusal(""),
      (failure: unknown) => setRefusal(failure instanceof Error ? failure.message : String(failure)),
    );
  };
  return (
    <div
      onBlur={save}
      onKeyDown={(event) => {
        if (event.key === "Enter" && !rest.rows) {
          event.preventDefault();
          save();
        }
      }}
    >
      <Field {...rest} value={text} onChange={setText} wrong={refusal || wrong} />
    </div>
  );
}
