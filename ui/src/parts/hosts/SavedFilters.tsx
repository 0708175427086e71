// Filters with a name: what is looked for every day is one click away.
import { Divider, MenuToggle, Select, SelectList, SelectOption } from "@patternfly/react-core";
import { useState } from "react";
import { Dialog } from "../Dialog";
import { Field } from "../Field";
import { keepFilters, keptFilters, withFilter, withoutFilter } from "./filters";
import type { HostsView } from "./useHostWindow";

const SAVE = "save";
const REMOVE = "remove";
const USE = "use";

interface Props {
  readonly view: HostsView;
  /** There is something to save. */
  readonly filtered: boolean;
  readonly onView: (view: HostsView) => void;
}

export function SavedFilters({ view, filtered, onView }: Props) {
  const [filters, setFilters] = useState(keptFilters);
  const [open, setOpen] = useState(false);
  const [saving, setSaving] = useState(false);
  const [name, setName] = useState("");
  const used = filters.find((one) => JSON.stringify(one.view) === JSON.stringify(view));
  const keep = (next: typeof filters): void => {
    keepFilters(next);
    setFilters(next);
  };
  const choose = (value: string): void => {
    setOpen(false);
    if (value === SAVE) setSaving(true);
    else if (value === REMOVE && used) keep(withoutFilter(filters, used.name));
    else {
      const chosen = filters.find((one) => value === `${USE} ${one.name}`);
      if (chosen) onView(chosen.view);
    }
  };
  return (
    <>
      <Select
        isOpen={open}
        onOpenChange={setOpen}
        onSelect={(_, value) => choose(String(value))}
        toggle={(reference) => (
          <MenuToggle ref={reference} id="saved-filters" onClick={() => setOpen(!open)} isExpanded={open}>
            {used ? used.name : "Saved filters"}
          </MenuToggle>
        )}
      >
        <SelectList aria-label="Saved filters">
          {filters.map((one) => (
            <SelectOption key={one.name} value={`${USE} ${one.name}`} isSelected={one === used}>
              {one.name}
            </SelectOption>
          ))}
          {filters.length > 0 && <Divider component="li" />}
          {used ? (
            <SelectOption value={REMOVE}>Forget “{used.name}”</SelectOption>
          ) : (
            <SelectOption value={SAVE} isDisabled={!filtered} description={filtered ? "" : "Filter the hosts first."}>
              Save this filter…
            </SelectOption>
          )}
        </SelectList>
      </Select>
      {saving && (
        <Dialog
          id="save-filter"
          title="Save this filter"
          action="Save"
          ready={name.trim() !== ""}
          onAct={async () => keep(withFilter(filters, { name: name.trim(), view }))}
          onClose={() => {
            setSaving(false);
            setName("");
          }}
        >
          <Field id="filter-name" label="Name" required value={name} onChange={setName} help="Kept in this browser, for the hosts of every cluster." />
        </Dialog>
      )}
    </>
  );
}
