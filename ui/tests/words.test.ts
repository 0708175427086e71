import { describe, expect, it } from "vitest";
import type { Fix } from "../src/api/own";
import { checkTitle } from "../src/checks";
import { operatorTitle } from "../src/operators";
import { isOnlyAnExample, textsIn, withTexts } from "../src/parts/problems/fixes";
import { freeAddresses } from "../src/pictures/subnet";

const fix = (body: Readonly<Record<string, unknown>> | null): Fix => ({ title: "x", method: "PATCH", path: "/api/x", body });

describe("words", () => {
  it("names checks that nobody has named", () => {
    expect(checkTitle("has-min-memory")).toBe("Memory");
    expect(checkTitle("odf-requirements-satisfied")).toBe("Requirements of odf");
    expect(checkTitle("some-new-cidr-check")).toBe("Some new CIDR check");
    expect(operatorTitle("cnv")).toBe("OpenShift Virtualization");
    expect(operatorTitle("brand-new")).toBe("Brand new");
  });
});

describe("fixes", () => {
  it("lets texts be changed and leaves the rest alone", () => {
    const rename = fix({ host_name: "one", host_role: "worker" });
    expect(textsIn(rename).map(({ field, text }) => [field, text])).toEqual([["host_name", "one"]]);
    expect(withTexts(rename, { host_name: "two" }).body).toEqual({ host_name: "two", host_role: "worker" });
    expect(textsIn(fix(null))).toEqual([]);
    expect(textsIn(fix({ host_name: 7 }))).toEqual([]);
  });

  it("knows an example from a proposal", () => {
    expect(isOnlyAnExample(fix({ base_dns_domain: "example.com" }))).toBe(true);
    expect(isOnlyAnExample(fix({ base_dns_domain: "lab.example.com" }))).toBe(false);
  });
});

it("proposes free addresses of the machine network first, and no more than asked for", () => {
  const network = { scanned: true, size: 256, taken: [] };
  const networks = [
    { ...network, cidr: "10.0.0.0/24", machine: false, free: [[5, 6]] as const },
    { ...network, cidr: "192.0.2.0/24", machine: true, free: [[3, 3], [9, 10]] as const },
  ];
  expect(freeAddresses(networks, 4)).toEqual(["192.0.2.3", "192.0.2.9", "192.0.2.10", "10.0.0.5"]);
  expect(freeAddresses([{ ...network, cidr: "2001:db8::/64", machine: true, size: null, free: [] }], 4)).toEqual([]);
});
