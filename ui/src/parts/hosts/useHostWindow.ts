// The rows of a long table that are in sight, fetched page by page; the rest is only known by number.
import { useRef } from "react";
import { type HostsPlace, useHosts } from "../../api/reads";
import type { HostPage, HostRow } from "../../api/own";
import { useLatest } from "../../live/resources";

export const PAGE = 100;

export interface HostsView {
  readonly text: string;
  readonly statuses: readonly string[];
  readonly roles: readonly string[];
  readonly check: string;
  readonly sort: string;
  readonly descending: boolean;
}

export const FIRST_VIEW: HostsView = { text: "", statuses: [], roles: [], check: "", sort: "name", descending: false };

export function askedOf(view: HostsView): Readonly<Record<string, string>> {
  return {
    text: view.text.trim(),
    status: view.statuses.join(","),
    role: view.roles.join(","),
    check: view.check,
    sort: view.sort,
    descending: view.descending ? "true" : "",
  };
}

export interface HostWindow {
  readonly page: HostPage | undefined;
  readonly error: string;
  readonly rowAt: (index: number) => HostRow | undefined;
  readonly refresh: () => void;
}

/** `from` and `to` are the first and last row in sight; they never span more than two pages. */
export function useHostWindow(place: HostsPlace, view: HostsView, from: number, to: number): HostWindow {
  const asked = askedOf(view);
  const first = Math.floor(from / PAGE) * PAGE;
  const second = Math.floor(to / PAGE) * PAGE;
  const upper = useHosts(place, { ...asked, offset: first, limit: PAGE });
  const lower = useHosts(place, { ...asked, offset: second, limit: PAGE });
  const keptUpper = useRef<HostPage | undefined>(undefined);
  const keptLower = useRef<HostPage | undefined>(undefined);
  const pageUpper = useLatest(upper, keptUpper);
  const pageLower = useLatest(lower, keptLower);
  return {
    page: pageUpper ?? pageLower,
    error: upper.error,
    refresh: upper.refresh,
    rowAt: (index) => {
      if (index < first) return undefined;
      return index < first + PAGE ? pageUpper?.hosts[index - first] : pageLower?.hosts[index - second];
    },
  };
}
