import { describe, expect, it } from "vitest";
import type { ListedEvent } from "../src/api/types";
import { repeated } from "../src/parts/events/repeats";
import { filtersIn, type KeptFilter, withFilter, withoutFilter } from "../src/parts/hosts/filters";
import { FIRST_VIEW } from "../src/parts/hosts/useHostWindow";
import { secondsLeft } from "../src/parts/problems/Measured";
import { linesOf } from "../src/parts/problems/EvidenceList";

const event = (message: string, host_id = "h1", severity = "info"): ListedEvent => ({
  event_time: "2026-01-01T00:00:00Z",
  name: "host_progress",
  severity,
  message,
  ...(host_id ? { host_id } : {}),
});
const shape = (events: readonly ListedEvent[]): readonly (readonly [string, number])[] =>
  repeated(events).map(({ newest, before }) => [newest.message, before.length]);

describe("events that repeat", () => {
  it("are one when only numbers differ, though others did something in between", () => {
    const events = [event("written 95%"), event("written 40%", "h2"), event("written 90%"), event("written 35%", "h2")];
    expect(shape(events)).toEqual([["written 95%", 1], ["written 40%", 1]]);
  });
  it("are one when a host flaps between a few states", () => {
    const events = ["gone", "back", "gone", "back", "gone"].map((text) => event(text));
    expect(shape(events)).toEqual([["gone", 2], ["back", 1]]);
  });
  it("stay apart when words, severities or hosts differ, or much happened in between", () => {
    expect(shape([event("a"), event("b"), event("a", "h1", "error"), event("a", "h2"), event("a", "")]).length).toBe(5);
    expect(shape(["a", "b", "c", "d", "a"].map((text) => event(text)))[0]).toEqual(["a", 1]);
    expect(shape(["a", "b", "c", "d", "e", "a"].map((text) => event(text))).map(([, count]) => count)).toEqual([0, 0, 0, 0, 0, 0]);
  });
  it("lose nobody", () => {
    const events = Array.from({ length: 60 }, (_, index) => event(`${"abc".charAt(index % 3)} ${index}`, `h${index % 7}`));
    expect(repeated(events).flatMap(({ newest, before }) => [newest, ...before]).length).toBe(60);
  });
});

describe("filters that are kept", () => {
  const kept = (name: string): KeptFilter => ({ name, view: { ...FIRST_VIEW, text: name } });
  it("come back as they were", () => {
    const filters = withFilter([kept("a")], kept("b"));
    expect(filtersIn(JSON.stringify(filters))).toEqual(filters);
    expect(withoutFilter(filters, "a")).toEqual([kept("b")]);
  });
  it("have one of each name, and not too many", () => {
    const newer = { name: "a", view: { ...FIRST_VIEW, descending: true } };
    expect(withFilter([kept("a"), kept("b")], newer)).toEqual([kept("b"), newer]);
    const many = Array.from({ length: 20 }, (_, index) => kept(`f${index}`));
    expect(withFilter(many, kept("last")).map(({ name }) => name)).toEqual([...many.slice(1).map(({ name }) => name), "last"]);
  });
  it.each([null, "", "{", "7", '{"a":1}', '[null,7,"x",{}]', '[{"name":"","view":{}}]', '[{"name":"x","view":{"text":7}}]', JSON.stringify([{ name: "x", view: { ...FIRST_VIEW, roles: [7] } }])])(
    "are nothing when %s is written there",
    (text) => expect(filtersIn(text)).toEqual([]),
  );
});

describe("what was measured", () => {
  it.each([
    ["found_bytes", 1_073_741_824, ["1 GiB"]],
    ["needed_gb", 100, ["100 GB"]],
    ["limit_ms", 10, ["10 ms"]],
    ["limit_percent", 10, ["10 %"]],
    ["count", 0, ["0"]],
    ["name", "", ["—"]],
    ["virtual", false, ["no"]],
    ["networks", ["a", "b"], ["a, b"]],
    ["networks", [], ["none"]],
    ["disks", ["/dev/sda: too small.", "/dev/sdb: gone."], ["/dev/sda: too small.", "/dev/sdb: gone."]],
    ["checked_in_at", "never", ["never"]],
  ] as const)("%s of %s", (name, value, lines) => expect(linesOf(name, value)).toEqual(lines));
  it("tells times as people read them", () => {
    expect(linesOf("checked_in_at", "2026-11-15T14:09:25.669369+00:00")[0]).toMatch(/2026/);
    expect(linesOf("checked_in_at", "2026-11-15T14:09:25.669369+00:00")[0]).not.toMatch(/T14/);
  });
});

it.each([
  [0, 20],
  [19_999, 1],
  [20_000, 60],
  [79_999, 1],
  [80_000, 60],
  [-1, 20],
])("after %s ms the next check is %s s away", (passed, left) => expect(secondsLeft({ after: 20, every: 60 }, passed)).toBe(left));
