import { describe, expect, it } from "vitest";
import { cardsIn, cardsText, cellsOf, csvOf, filled, linesOf, NO_CELLS, rowOf, storedHosts, tableIn } from "../src/parts/static/sheet";

const CELLS = { ...NO_CELLS, mac_addresses: "02:00:00:00:00:01 02:00:00:00:00:02", ipv4: "192.0.2.11/24", vlan: "404", dns: "192.0.2.2, 192.0.2.3" };

describe("the sheet of static networks", () => {
  it("turns cells into rows and back", () => {
    const row = rowOf(CELLS, 1);
    expect(row.mac_addresses).toEqual(["02:00:00:00:00:01", "02:00:00:00:00:02"]);
    expect([row.vlan, row.mtu]).toEqual([404, null]);
    expect(cellsOf(row)).toEqual({ ...CELLS, dns: "192.0.2.2 192.0.2.3" });
    expect(() => rowOf({ ...CELLS, mtu: "big" }, 3)).toThrow("Row 3");
  });
  it("reads what spreadsheets and CSV files write", () => {
    expect(linesOf('a;"b;1";c\r\n\r\nd;e;"f""g"\n')).toEqual([["a", "b;1", "c"], ["d", "e", 'f"g']]);
    expect(linesOf("a\tb, c\n1\t2")).toEqual([["a", "b, c"], ["1", "2"]]);
    expect(linesOf('a,b\n"two\nlines",x')).toEqual([["a", "b"], ["two\nlines", "x"]]);
  });
  it("knows columns by their names and by what people call them", () => {
    const table = tableIn("\uFEFFMAC;IP;Gateway\n02:00:00:00:00:01;192.0.2.11/24;192.0.2.1\n");
    expect(table).toEqual([{ ...NO_CELLS, mac_addresses: "02:00:00:00:00:01", ipv4: "192.0.2.11/24", ipv4_gateway: "192.0.2.1" }]);
    expect(tableIn("02:00:00:00:00:01\t192.0.2.11/24")).toBeNull();
    expect(() => tableIn("mac,rack\nx,y")).toThrow("rack");
  });
  it("fills from where the paste happened", () => {
    const sheet = filled([CELLS], 0, "ipv4", "192.0.2.21/24\t192.0.2.1\n192.0.2.22/24\t192.0.2.1");
    expect(sheet.map(({ mac_addresses, ipv4, ipv4_gateway }) => [mac_addresses, ipv4, ipv4_gateway])).toEqual([
      [CELLS.mac_addresses, "192.0.2.21/24", "192.0.2.1"],
      ["", "192.0.2.22/24", "192.0.2.1"],
    ]);
    expect(filled([CELLS], 0, "dns_search", "a\tb")[0]?.dns_search).toBe("a");
  });
  it("loses nothing as CSV", () => expect(tableIn(csvOf([CELLS, NO_CELLS, CELLS]))).toEqual([CELLS, CELLS]));
  it("keeps the cards, and takes stored text for what it is", () => {
    const cards = [{ mac_address: "02:00:00:00:00:01", logical_nic_name: "eth0" }];
    expect(cardsIn(cardsText(cards))).toEqual(cards);
    expect([storedHosts(""), storedHosts("{"), storedHosts("{}")]).toEqual([[], [], []]);
  });
});
