// Filters of the table of hosts that somebody keeps, by name, in this browser. Pure but for the two that say so.
import { FIRST_VIEW, type HostsView } from "./useHostWindow";

export interface KeptFilter {
  readonly name: string;
  readonly view: HostsView;
}

const KEY = "firstlight.host-filters";
const MOST = 20;

/** What another version or another hand wrote there is left out. */
export function filtersIn(text: string | null): readonly KeptFilter[] {
  try {
    const found: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(found) ? found.flatMap(filterOf) : [];
  } catch {
    return [];
  }
}

function filterOf(found: unknown): readonly KeptFilter[] {
  const { name, view } = (found ?? {}) as Partial<Record<keyof KeptFilter, unknown>>;
  if (typeof name !== "string" || !name || typeof view !== "object" || view === null) return [];
  const kept = view as Readonly<Record<string, unknown>>;
  const right = Object.entries(FIRST_VIEW).every(([field, first]) => sameKind(kept[field], first));
  return right ? [{ name, view: view as HostsView }] : [];
}

function sameKind(value: unknown, first: unknown): boolean {
  if (Array.isArray(first)) return Array.isArray(value) && value.every((one) => typeof one === "string");
  return typeof value === typeof first;
}

/** The newest of a name counts; the oldest go when there are too many. */
export const withFilter = (kept: readonly KeptFilter[], filter: KeptFilter): readonly KeptFilter[] =>
  [...withoutFilter(kept, filter.name), filter].slice(-MOST);

export const withoutFilter = (kept: readonly KeptFilter[], name: string): readonly KeptFilter[] =>
  kept.filter((one) => one.name !== name);

/** Asks the browser. */
export const keptFilters = (): readonly KeptFilter[] => filtersIn(window.localStorage.getItem(KEY));

/** Tells the browser. */
export const keepFilters = (filters: readonly KeptFilter[]): void => window.localStorage.setItem(KEY, JSON.stringify(filters));
