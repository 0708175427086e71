// Short notes in the corner: what was done, or why it was not.
import { Alert, AlertActionCloseButton, AlertGroup } from "@patternfly/react-core";
import { useSyncExternalStore } from "react";
import { sentence } from "../api/http";

type Variant = "success" | "danger" | "info" | "warning";

interface Note {
  readonly id: number;
  readonly variant: Variant;
  readonly title: string;
  readonly text: string;
}

const MOST = 4;
let notes: readonly Note[] = [];
let last = 0;
const watchers = new Set<() => void>();

function set(next: readonly Note[]): void {
  notes = next;
  for (const watcher of watchers) watcher();
}

export function note(variant: Variant, title: string, text = ""): void {
  last += 1;
  set([...notes, { id: last, variant, title, text }].slice(-MOST));
}

/** Does it, and says so when it fails; the answer tells whether it went well. */
export async function attempt(what: () => Promise<unknown>, failed: string, done = ""): Promise<boolean> {
  try {
    await what();
  } catch (failure) {
    note("danger", failed, sentence(failure));
    return false;
  }
  if (done) note("success", done);
  return true;
}

export function Notes() {
  const shown = useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => notes,
  );
  const close = (id: number): void => set(notes.filter((known) => known.id !== id));
  return (
    <AlertGroup isToast isLiveRegion aria-label="Notes">
      {shown.map(({ id, variant, title, text }) => (
        <Alert
          key={id}
          variant={variant}
          title={title}
          timeout={variant === "danger" ? 20_000 : 5_000}
          onTimeout={() => close(id)}
          actionClose={<AlertActionCloseButton onClose={() => close(id)} />}
        >
          {text}
        </Alert>
      ))}
    </AlertGroup>
  );
}
