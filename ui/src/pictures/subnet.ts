// A network as cells: one per address, or one per block of addresses where there are many. Pure.
import type { MappedNetwork, TakenAddress } from "../api/pictures";

export type Use = "api" | "ingress" | "gateway" | "host" | "free" | "foreign" | "unseen" | "edge";

export interface Block {
  readonly first: number;
  readonly last: number;
  readonly use: Use;
  readonly free: number;
  readonly taken: readonly TakenAddress[];
}

export const MOST_CELLS = 1024;
const ORDER: readonly Use[] = ["api", "ingress", "gateway", "host"];

export function addressAt(cidr: string, offset: number): string {
  const parts = (cidr.split("/")[0] ?? "").split(".").map(Number);
  const first = parts.reduce((sum, part) => sum * 256 + part, 0) + offset;
  return [24, 16, 8, 0].map((shift) => Math.floor(first / 2 ** shift) % 256).join(".");
}

export function blocksOf(network: MappedNetwork): readonly Block[] {
  const size = network.size ?? 0;
  const step = Math.max(1, Math.ceil(size / MOST_CELLS));
  const free = new Uint8Array(size);
  for (const [first, last] of network.free) free.fill(1, first, last + 1);
  const taken = new Map<number, TakenAddress[]>();
  for (const one of network.taken) {
    if (one.offset === null) continue;
    const block = Math.floor(one.offset / step);
    taken.set(block, [...(taken.get(block) ?? []), one]);
  }
  return Array.from({ length: Math.ceil(size / step) }, (_, index) => {
    const [first, last] = [index * step, Math.min(size, (index + 1) * step) - 1];
    const here = taken.get(index) ?? [];
    const count = free.subarray(first, last + 1).reduce((sum, one) => sum + one, 0);
    return { first, last, use: useOf(network, here, count, first, last), free: count, taken: here };
  });
}

function useOf(network: MappedNetwork, taken: readonly TakenAddress[], free: number, first: number, last: number): Use {
  const known = ORDER.find((kind) => taken.some((one) => one.kind === kind));
  if (known) return known;
  const size = network.size ?? 0;
  if (first === last && size > 2 && (first === 0 || last === size - 1)) return "edge";
  if (!network.scanned) return "unseen";
  return free > 0 ? "free" : "foreign";
}

const WORDS: Readonly<Record<Use, string>> = {
  api: "API",
  ingress: "ingress",
  gateway: "gateway",
  host: "host",
  free: "free",
  foreign: "in use by something else",
  unseen: "not looked at yet",
  edge: "address of the network itself",
};

export function blockText({ cidr }: MappedNetwork, block: Block): string {
  const place = block.first === block.last ? addressAt(cidr, block.first) : `${addressAt(cidr, block.first)} to ${addressAt(cidr, block.last)}`;
  if (block.taken.length > 0) return `${place}: ${block.taken.map(({ name }) => name).join(", ")}`;
  return `${place}: ${block.first === block.last || block.free === 0 ? WORDS[block.use] : `${block.free} free`}`;
}

/** The first free addresses, the machine network's before others. */
export function freeAddresses(networks: readonly MappedNetwork[], most: number): readonly string[] {
  const found: string[] = [];
  for (const { cidr, free, size } of [...networks].sort((one, other) => Number(other.machine) - Number(one.machine))) {
    if (size === null) continue;
    for (const [first, last] of free) {
      for (let offset = first; offset <= last && found.length < most; offset += 1) found.push(addressAt(cidr, offset));
    }
  }
  return found;
}

export const freeCount = ({ free }: MappedNetwork): number => free.reduce((sum, [first, last]) => sum + last - first + 1, 0);
