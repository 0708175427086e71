// Whether the service wants to know who this is. The address stays as it is, so that people go on where they were.
import { useSyncExternalStore } from "react";

let needed = false;
const watchers = new Set<() => void>();

function set(next: boolean): void {
  if (needed === next) return;
  needed = next;
  for (const watcher of watchers) watcher();
}

/** The service answered 401. */
export const askForLogin = (): void => set(true);
export const loginDone = (): void => set(false);

export const useNeedsLogin = (): boolean =>
  useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => needed,
  );
