// Which clusters the list shows, and in which order. Pure.
import type { ClusterRow } from "../../api/own";
import { clusterStatus } from "../../words";

export type Column = "name" | "base_domain" | "version" | "status" | "hosts" | "created_at";

export interface View {
  readonly text: string;
  readonly statuses: readonly string[];
  readonly column: Column;
  readonly descending: boolean;
}

export const FIRST_VIEW: View = { text: "", statuses: [], column: "created_at", descending: true };

const natural = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

const ORDER: Readonly<Record<Column, (a: ClusterRow, b: ClusterRow) => number>> = {
  name: (a, b) => natural.compare(a.name, b.name),
  base_domain: (a, b) => natural.compare(a.base_domain, b.base_domain),
  version: (a, b) => natural.compare(a.version, b.version),
  status: (a, b) => natural.compare(clusterStatus(a.status).text, clusterStatus(b.status).text),
  hosts: (a, b) => a.hosts - b.hosts,
  created_at: (a, b) => a.created_at.localeCompare(b.created_at),
};

export function arranged(rows: readonly ClusterRow[], view: View): readonly ClusterRow[] {
  const wanted = view.text.trim().toLowerCase();
  const found = rows.filter(
    (row) =>
      (view.statuses.length === 0 || view.statuses.includes(clusterStatus(row.status).text)) &&
      (wanted === "" || `${row.name}\n${row.id}\n${row.base_domain}`.toLowerCase().includes(wanted)),
  );
  const order = ORDER[view.column];
  return found.sort((a, b) => (view.descending ? order(b, a) : order(a, b)) || natural.compare(a.name, b.name));
}

/** The words of the states there are, with how often they occur. */
export function statusCounts(rows: readonly ClusterRow[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const row of rows) {
    const word = clusterStatus(row.status).text;
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return new Map([...counts].sort(([a], [b]) => natural.compare(a, b)));
}
