import { describe, expect, it } from "vitest";
import { reasonIn } from "../src/api/http";
import type { ClusterRow, ProblemCase } from "../src/api/own";
import { counted, duration, memory, moment, storage } from "../src/numbers";
import { arranged, FIRST_VIEW, statusCounts } from "../src/pages/clusters/rows";
import { addressesIn } from "../src/pages/wizard/addresses";
import { wrongDomain, wrongName, wrongPullSecret } from "../src/pages/wizard/names";
import { labelsIn } from "../src/parts/hosts/labels";
import { inSight } from "../src/parts/hosts/window";
import { groupedCases } from "../src/parts/problems/grouping";
import { routeOf } from "../src/route";
import { named } from "../src/words";

const row = (name: string, status: string, created_at: string): ClusterRow => ({
  id: name,
  name,
  kind: "Cluster",
  status,
  status_info: "",
  base_domain: "example.com",
  version: "4.22.0",
  architecture: "x86_64",
  control_planes: 3,
  created_at,
  percent: 0,
  hosts: 0,
  ready: 0,
});

describe("the list of clusters", () => {
  const rows = [row("c-10", "insufficient", "2"), row("c-2", "installed", "1"), row("x", "pending-for-input", "3")];
  it("counts numbers in names, and shows the newest first unless told otherwise", () => {
    expect(arranged(rows, FIRST_VIEW).map(({ name }) => name)).toEqual(["x", "c-10", "c-2"]);
    const byName = { ...FIRST_VIEW, column: "name" as const, descending: false };
    expect(arranged(rows, byName).map(({ name }) => name)).toEqual(["c-2", "c-10", "x"]);
  });
  it("filters by text and by the words people see", () => {
    expect(arranged(rows, { ...FIRST_VIEW, text: " C-1 " }).map(({ name }) => name)).toEqual(["c-10"]);
    expect(arranged(rows, { ...FIRST_VIEW, statuses: ["Draft"] }).length).toBe(2);
    expect([...statusCounts(rows)]).toEqual([["Draft", 2], ["Installed", 1]]);
  });
});

describe("rows in sight", () => {
  it.each([
    [0, 400, 10, 1000, 0, { first: 0, last: 40 }],
    [395, 400, 10, 1000, 0, { first: 39, last: 80 }],
    [0, 400, 10, 3, 8, { first: 0, last: 2 }],
    [9_999, 400, 10, 20, 0, { first: 19, last: 19 }],
    [0, 400, 10, 0, 8, { first: 0, last: -1 }],
  ])("%i scrolled in %i", (scrolled, height, size, count, spare, wanted) => {
    expect(inSight(scrolled, height, size, count, spare)).toEqual(wanted);
  });
});

describe("addresses of pages", () => {
  it.each([
    ["/", "clusters"],
    ["/clusters/new", "new-cluster"],
    ["/clusters/a1/hosts", "cluster"],
    ["/clusters/a1/setup/media", "wizard"],
    ["/infra-envs/e1", "infra-env"],
    ["/settings", "settings"],
    ["/nowhere", "unknown"],
    ["/clusters/%E0%A4%A", "cluster"],
  ])("%s", (path, page) => expect(routeOf(path).page).toBe(page));
  it("names the host whose drawer is open", () => {
    expect(routeOf("/clusters/a1/hosts", "host=h1")).toEqual({ page: "cluster", id: "a1", tab: "hosts", host: "h1" });
  });
});

describe("what people type", () => {
  it.each([["east", true], ["", true], ["East", false], ["-a", false], ["a".repeat(55), false]])("name %s", (name, fine) =>
    expect(wrongName(name) === "").toBe(fine),
  );
  it.each([["example.com", true], ["example", false], ["a..b", false]])("domain %s", (name, fine) =>
    expect(wrongDomain(name) === "").toBe(fine),
  );
  it.each([['{"auths":{"a":{}}}', true], ["{}", false], ["nonsense", false]])("secret %s", (text, fine) =>
    expect(wrongPullSecret(text) === "").toBe(fine),
  );
  it("labels", () => {
    expect(labelsIn("rack=7, old-")).toEqual({ labels: { rack: "7", old: null }, wrong: "" });
    expect(labelsIn("")).toEqual({ labels: undefined, wrong: "" });
    expect(labelsIn("rack")).toEqual({ labels: undefined, wrong: "rack" });
  });
  it("addresses", () => expect(addressesIn("192.0.2.1, 2001:db8::1 ")).toEqual([{ ip: "192.0.2.1" }, { ip: "2001:db8::1" }]));
});

describe("numbers and words", () => {
  it("sizes", () => expect([memory(16 * 2 ** 30), storage(120e9), storage(0)]).toEqual(["16 GiB", "120 GB", "—"]));
  it("durations", () => expect([duration(7_000), duration(90_000), duration(3_700_000)]).toEqual(["7 s", "1 min 30 s", "1 h 1 min"]));
  it("the year 1 is never", () => expect(moment("0001-01-01T00:00:00.000Z")).toBeNull());
  it("one and many", () => expect([counted(1, "host"), counted(2, "host")]).toEqual(["1 host", "2 hosts"]));
  it("checks", () => expect(named("api-vips-defined")).toBe("API VIPs defined"));
});

it("errors are sentences, whatever document they come in", () => {
  expect(reasonIn('{"kind":"Error","reason":"No."}', 409)).toBe("No.");
  expect(reasonIn('{"code":400,"message":"Bad."}', 400)).toBe("Bad.");
  expect(reasonIn("<html>", 502)).toBe("The request failed with status 502.");
});

it("says the same of many hosts once, and keeps fixes apart", () => {
  const one = (host_id: string, message: string, fixes: ProblemCase["fixes"] = []): ProblemCase => ({
    host_id,
    infra_env_id: "e",
    host_name: host_id,
    message,
    evidence: {},
    measured_at: null,
    next_check: null,
    fixes,
  });
  const fix = { title: "t", method: "PATCH", path: "/api/x", body: null } as const;
  const groups = groupedCases([one("a", "m"), one("b", "m"), one("c", "n"), one("d", "m", [fix]), one("e", "m", [fix])]);
  expect(groups.map((group) => group.map(({ host_id }) => host_id))).toEqual([["a", "b"], ["c"], ["d"], ["e"]]);
});
