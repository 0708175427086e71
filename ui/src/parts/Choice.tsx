// A menu of tick boxes for filters: several values, with how many things have each.
import { Badge, MenuToggle, Select, SelectList, SelectOption } from "@patternfly/react-core";
import { useState } from "react";

export interface Option {
  readonly value: string;
  readonly text: string;
  readonly count?: number;
}

interface Props {
  readonly id: string;
  readonly label: string;
  readonly options: readonly Option[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

export function Choice({ id, label, options, chosen, onChange }: Props) {
  const [open, setOpen] = useState(false);
  const toggle = (value: string): void =>
    onChange(chosen.includes(value) ? chosen.filter((known) => known !== value) : [...chosen, value]);
  return (
    <Select
      isOpen={open}
      onOpenChange={setOpen}
      onSelect={(_, value) => toggle(String(value))}
      selected={[...chosen]}
      toggle={(reference) => (
        <MenuToggle ref={reference} id={id} onClick={() => setOpen(!open)} isExpanded={open}>
          {label}
          {chosen.length > 0 && (
            <>
              {" "}
              <Badge isRead>{chosen.length}</Badge>
            </>
          )}
        </MenuToggle>
      )}
    >
      <SelectList>
        {options.map(({ value, text, count }) => (
          <SelectOption key={value} value={value} hasCheckbox isSelected={chosen.includes(value)}>
            {text} {count !== undefined && <span className="fl-subtle">{count.toLocaleString()}</span>}
          </SelectOption>
        ))}
      </SelectList>
    </Select>
  );
}
