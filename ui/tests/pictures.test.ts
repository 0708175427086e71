import { describe, expect, it } from "vitest";
import type { BrokenPath, MappedHost, MappedNetwork, NetworkMap, Span, Timeline } from "../src/api/pictures";
import { added, matching, NO_LOG } from "../src/parts/host/log";
import { brokenPairs, byPath, cellOf, cellText, pairText } from "../src/pictures/paths";
import { scaleOf, share, ticks } from "../src/pictures/spans";
import { addressAt, blocksOf, blockText, freeCount, MOST_CELLS } from "../src/pictures/subnet";

const host = (name: string, reported_at: string | null = "2026-01-01T00:00:00Z"): MappedHost => ({
  id: `id-${name}`,
  infra_env_id: "e",
  name,
  role: "master",
  status: "known",
  networks: ["192.0.2.0/24"],
  reported_at,
});
const path = (source: string, target: string, fault: BrokenPath["fault"] = "unreached"): BrokenPath => ({
  source: `id-${source}`,
  target: `id-${target}`,
  fault,
  over: ["IPv4"],
  measured: "",
});

describe("the matrix", () => {
  const hosts = [host("a"), host("b"), host("c", null)] as const;
  const map: NetworkMap = { total: 3, hosts, broken: [path("a", "b", "slow"), path("b", "a"), path("a", "c")], networks: [] };
  const broken = byPath(map.broken);
  it("tells each way apart", () => {
    expect(cellOf(hosts[0], hosts[1], broken)).toBe("slow");
    expect(cellOf(hosts[1], hosts[0], broken)).toBe("unreached");
    expect(cellOf(hosts[1], hosts[2], broken)).toBe("fine");
    expect(cellOf(hosts[2], hosts[1], broken)).toBe("unknown");
    expect(cellOf(hosts[2], hosts[2], broken)).toBe("self");
    expect(cellText(hosts[1], hosts[0], broken)).toBe("b to a: no answer (IPv4)");
  });
  it("joins the two ways of a pair", () => {
    expect(brokenPairs(map).map(pairText)).toEqual(["a to b: slow (IPv4); b to a: no answer (IPv4)", "a to c: no answer (IPv4)"]);
    expect(brokenPairs({ ...map, broken: [path("a", "b"), path("b", "a")] }).map(pairText)).toEqual(["a and b: no answer (IPv4)"]);
  });
});

describe("the map of addresses", () => {
  const network = (fields: Partial<MappedNetwork>): MappedNetwork => ({ cidr: "192.0.2.0/24", machine: true, size: 256, scanned: true, free: [], taken: [], ...fields });
  it("counts from the first address, over the dots", () => {
    expect(addressAt("192.0.2.0/24", 0)).toBe("192.0.2.0");
    expect(addressAt("10.255.254.0/23", 511)).toBe("10.255.255.255");
    expect(addressAt("203.0.113.0/24", 255)).toBe("203.0.113.255");
  });
  it("says whose an address is", () => {
    const taken = [{ address: "192.0.2.5", offset: 5, kind: "api" as const, name: "API", host_id: null }];
    const blocks = blocksOf(network({ free: [[30, 31]], taken }));
    expect([0, 5, 30, 31, 32, 255].map((at) => blocks[at]?.use)).toEqual(["edge", "api", "free", "free", "foreign", "edge"]);
    expect(blockText(network({}), blocks[5] ?? blocks[0]!)).toBe("192.0.2.5: API");
    expect(freeCount(network({ free: [[30, 31], [40, 40]] }))).toBe(3);
    expect(blocksOf(network({ scanned: false }))[9]?.use).toBe("unseen");
  });
  it("puts addresses together where there are many", () => {
    const large = blocksOf(network({ cidr: "10.0.0.0/16", size: 65_536, free: [[64, 70]] }));
    expect(large.length).toBe(MOST_CELLS);
    expect([large[0]?.use, large[1]?.use, large[1]?.free]).toEqual(["foreign", "free", 7]);
    expect(blocksOf(network({ size: null }))).toEqual([]);
  });
});

describe("the course of an installation", () => {
  const span = (began: string, ended: string | null): Span => ({ stage: "Rebooting", began, ended, failed: false });
  const timeline = (spans: readonly Span[]): Timeline => ({
    total: 1, began: "2026-01-01T00:00:00Z", ended: null, now: "2026-01-01T00:10:00Z", finalizing: [],
    lanes: [{ id: "h", infra_env_id: "e", name: "h", role: "worker", bootstrap: false, status: "installing-in-progress", late: false, spans }],
  });
  it("reaches from the beginning to now while something lasts", () => {
    const now = Date.parse("2026-01-01T00:10:00Z");
    expect(scaleOf(timeline([]), now)).toBeNull();
    const scale = scaleOf(timeline([span("2026-01-01T00:05:00Z", null)]), now);
    if (!scale) throw new Error("no scale");
    expect(share(scale, Date.parse("2026-01-01T00:05:00Z"))).toBe(50);
    expect(ticks(scale).map(({ text }) => text)).toEqual(["0 s", "2:00", "4:00", "6:00", "8:00", "10:00"]);
  });
});

describe("a growing log", () => {
  it("goes on where it was, and says what is lost", () => {
    const first = added(NO_LOG, { offset: 0, next: 4, end: 4, text: "one\n" });
    const second = added(first, { offset: 4, next: 8, end: 8, text: "two\n" });
    expect(second).toEqual({ text: "one\ntwo\n", next: 8, lost: false });
    expect(added(second, { offset: 8, next: 8, end: 8, text: "" })).toEqual(second);
    expect(added(second, { offset: 100, next: 104, end: 104, text: "new\n" })).toEqual({ text: "new\n", next: 104, lost: true });
    expect(added(NO_LOG, { offset: 50, next: 54, end: 54, text: "mid\n" }).lost).toBe(true);
  });
  it("stays within bounds, cut at a line", () => {
    const text = `${"x".repeat(999)}\n`.repeat(1001);
    const kept = added(NO_LOG, { offset: 0, next: text.length, end: text.length, text });
    expect(kept.lost).toBe(true);
    expect(kept.text.length % 1000).toBe(0);
    expect(kept.text.length).toBeLessThan(text.length);
  });
  it("shows lines with a word", () => expect(matching("One\ntwo\nanyone", "ONE")).toBe("One\nanyone"));
});
