// Broken paths between hosts, in words and by pair. Pure.
import type { BrokenPath, Fault, MappedHost, NetworkMap } from "../api/pictures";

export type Cell = "self" | "unknown" | "fine" | Fault;

export interface Pair {
  readonly key: string;
  readonly one: MappedHost;
  readonly other: MappedHost;
  readonly there: BrokenPath | undefined;
  readonly back: BrokenPath | undefined;
}

const WORDS: Readonly<Record<Fault, string>> = {
  unreached: "no answer",
  partial: "not every address answers",
  mtu: "large packets do not arrive",
  lossy: "packets are lost",
  slow: "slow",
};
/** Worst first. */
const ORDER: readonly Fault[] = ["unreached", "partial", "mtu", "lossy", "slow"];
export const LETTERS: Readonly<Record<Cell, string>> = {
  self: "",
  unknown: "?",
  fine: "",
  unreached: "✕",
  partial: "½",
  mtu: "M",
  lossy: "L",
  slow: "S",
};

const keyOf = (source: string, target: string): string => `${source} ${target}`;

export const byPath = (broken: readonly BrokenPath[]): ReadonlyMap<string, BrokenPath> =>
  new Map(broken.map((path) => [keyOf(path.source, path.target), path]));

export function cellOf(source: MappedHost, target: MappedHost, broken: ReadonlyMap<string, BrokenPath>): Cell {
  if (source.id === target.id) return "self";
  const fault = broken.get(keyOf(source.id, target.id))?.fault;
  return fault ?? (source.reported_at === null || target.networks.length === 0 ? "unknown" : "fine");
}

export function told(path: BrokenPath): string {
  const over = path.over.length > 0 ? ` (${path.over.join(", ")})` : "";
  return `${WORDS[path.fault]}${over}${path.measured ? `: ${path.measured}` : ""}`;
}

export function cellText(source: MappedHost, target: MappedHost, broken: ReadonlyMap<string, BrokenPath>): string {
  const cell = cellOf(source, target, broken);
  if (cell === "self") return source.name;
  const way = `${source.name} to ${target.name}: `;
  const path = broken.get(keyOf(source.id, target.id));
  if (path) return way + told(path);
  return way + (cell === "unknown" ? "not measured yet" : "fine");
}

/** Each two hosts with something wrong between them, once; the worst first. */
export function brokenPairs({ hosts, broken }: NetworkMap): readonly Pair[] {
  const known = new Map(hosts.map((host) => [host.id, host]));
  const paths = byPath(broken);
  const pairs = new Map<string, Pair>();
  for (const { source, target } of broken) {
    const [first = "", second = ""] = source < target ? [source, target] : [target, source];
    const one = known.get(first);
    const other = known.get(second);
    if (!one || !other) continue;
    const key = keyOf(first, second);
    pairs.set(key, { key, one, other, there: paths.get(key), back: paths.get(keyOf(second, first)) });
  }
  return [...pairs.values()].sort((a, b) => severity(a) - severity(b));
}

const severity = ({ there, back }: Pair): number =>
  Math.min(...[there, back].map((path) => (path ? ORDER.indexOf(path.fault) : ORDER.length)));

export const worst = (pair: Pair): Fault => ORDER[severity(pair)] ?? "slow";

export function pairText({ one, other, there, back }: Pair): string {
  if (there && back && told(there) === told(back)) return `${one.name} and ${other.name}: ${told(there)}`;
  const ways = [there && `${one.name} to ${other.name}: ${told(there)}`, back && `${other.name} to ${one.name}: ${told(back)}`];
  return ways.filter(Boolean).join("; ");
}

export const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
