// Static networks as a sheet of text cells: what people type and paste, and the rows the service understands. Pure.

export interface NetworkRow {
  readonly mac_addresses: readonly string[];
  readonly bond_mode: string;
  readonly vlan: number | null;
  readonly mtu: number | null;
  readonly ipv4: string;
  readonly ipv4_gateway: string;
  readonly ipv6: string;
  readonly ipv6_gateway: string;
  readonly dns: readonly string[];
  readonly dns_search: readonly string[];
}

export interface Card {
  readonly mac_address: string;
  readonly logical_nic_name: string;
}

export interface DescribedHost {
  readonly network_yaml: string;
  readonly mac_interface_map: readonly Card[];
}

export type Column = keyof NetworkRow;
export type Cells = Readonly<Record<Column, string>>;

/** Name on the wire, title, example. */
export const COLUMNS: readonly (readonly [Column, string, string])[] = [
  ["mac_addresses", "MAC addresses", "02:00:00:00:00:01"],
  ["ipv4", "IPv4 address", "192.0.2.11/24"],
  ["ipv4_gateway", "IPv4 gateway", "192.0.2.1"],
  ["dns", "DNS servers", "192.0.2.2"],
  ["vlan", "VLAN", ""],
  ["bond_mode", "Bond mode", ""],
  ["mtu", "MTU", ""],
  ["ipv6", "IPv6 address", ""],
  ["ipv6_gateway", "IPv6 gateway", ""],
  ["dns_search", "Search domains", ""],
];
const ALIASES: Readonly<Record<string, Column>> = {
  mac: "mac_addresses",
  macs: "mac_addresses",
  macaddress: "mac_addresses",
  ip: "ipv4",
  ipv4address: "ipv4",
  address: "ipv4",
  gateway: "ipv4_gateway",
  ipv6address: "ipv6",
  dnsservers: "dns",
  nameservers: "dns",
  bond: "bond_mode",
  searchdomains: "dns_search",
  search: "dns_search",
};
export const NO_CELLS: Cells = {
  mac_addresses: "",
  bond_mode: "",
  vlan: "",
  mtu: "",
  ipv4: "",
  ipv4_gateway: "",
  ipv6: "",
  ipv6_gateway: "",
  dns: "",
  dns_search: "",
};

const words = (text: string): readonly string[] => text.split(/[\s,;]+/).filter(Boolean);

export function cellsOf(row: NetworkRow): Cells {
  const text = (value: string | number | null | readonly string[]): string =>
    Array.isArray(value) ? value.join(" ") : value === null ? "" : String(value);
  return Object.fromEntries(COLUMNS.map(([column]) => [column, text(row[column])])) as unknown as Cells;
}

/** The row that cells stand for. Numbers that are none are refused with a sentence. */
export function rowOf(cells: Cells, number: number): NetworkRow {
  const whole = (column: "vlan" | "mtu", title: string): number | null => {
    const text = cells[column].trim();
    if (text === "") return null;
    if (!/^\d{1,6}$/.test(text)) throw new Error(`Row ${number}: “${text}” is no ${title}. Write a number.`);
    return Number(text);
  };
  return {
    mac_addresses: words(cells.mac_addresses),
    bond_mode: cells.bond_mode.trim().toLowerCase(),
    vlan: whole("vlan", "VLAN"),
    mtu: whole("mtu", "MTU"),
    ipv4: cells.ipv4.trim(),
    ipv4_gateway: cells.ipv4_gateway.trim(),
    ipv6: cells.ipv6.trim(),
    ipv6_gateway: cells.ipv6_gateway.trim(),
    dns: words(cells.dns),
    dns_search: words(cells.dns_search),
  };
}

/** Lines and cells of a table as spreadsheets and CSV files write it; lines without any text are left out. */
export function linesOf(text: string): readonly (readonly string[])[] {
  const plain = text.replace(/^\uFEFF/, "");
  const head = plain.split("\n", 1)[0] ?? "";
  const count = (sign: string): number => head.split(sign).length;
  const separator = ["\t", ";", ","].reduce((best, sign) => (count(sign) > count(best) ? sign : best), "\t");
  const lines: string[][] = [];
  let cells: string[] = [];
  let cell = "";
  let quoted = false;
  for (let at = 0; at < plain.length; at += 1) {
    const sign = plain[at] ?? "";
    if (quoted) {
      if (sign !== '"') cell += sign;
      else if (plain[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else quoted = false;
    } else if (sign === '"' && cell === "") quoted = true;
    else if (sign === separator || sign === "\n") {
      cells.push(cell.trim());
      cell = "";
      if (sign === "\n") {
        lines.push(cells);
        cells = [];
      }
    } else if (sign !== "\r") cell += sign;
  }
  lines.push([...cells, cell.trim()]);
  return lines.filter((line) => line.some(Boolean));
}

export function titleOf(text: string): Column | undefined {
  const plain = text.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  return COLUMNS.find(([column, title]) => [column, title].some((known) => known.toLowerCase().replaceAll(/[^a-z0-9]/g, "") === plain))?.[0] ?? ALIASES[plain];
}

/** The hosts of a pasted table whose first line names the columns; null when it does not. */
export function tableIn(text: string): readonly Cells[] | null {
  const [head = [], ...lines] = linesOf(text);
  const columns = head.map(titleOf);
  if (!columns.includes("mac_addresses")) return null;
  const unknown = head.filter((title, place) => title !== "" && columns[place] === undefined);
  if (unknown.length > 0) throw new Error(`There is no column “${unknown[0] ?? ""}”. Columns are ${COLUMNS.map(([name]) => name).join(", ")}.`);
  return lines.map((line) => {
    const cells: Record<Column, string> = { ...NO_CELLS };
    columns.forEach((column, place) => {
      if (column) cells[column] = line[place] ?? "";
    });
    return cells;
  });
}

/** Cells pasted without titles fill the sheet from where the paste happened, to the right and down. */
export function filled(sheet: readonly Cells[], row: number, column: Column, text: string): readonly Cells[] {
  const from = COLUMNS.findIndex(([name]) => name === column);
  const result = [...sheet];
  linesOf(text).forEach((line, down) => {
    const cells: Record<Column, string> = { ...(result[row + down] ?? NO_CELLS) };
    line.forEach((value, right) => {
      const target = COLUMNS[from + right]?.[0];
      if (target) cells[target] = value;
    });
    result[row + down] = cells;
  });
  return result;
}

export function csvOf(sheet: readonly Cells[]): string {
  const quoted = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = sheet.map((cells) => COLUMNS.map(([column]) => quoted(cells[column])).join(","));
  return [COLUMNS.map(([column]) => column).join(","), ...lines].join("\n");
}

/** What an infra-env keeps, which is text. */
export function storedHosts(text: string | undefined): readonly DescribedHost[] {
  if (!text) return [];
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? (parsed as DescribedHost[]) : [];
  } catch {
    return [];
  }
}

export const cardsText = (cards: readonly Card[]): string =>
  cards.map(({ mac_address, logical_nic_name }) => `${mac_address} ${logical_nic_name}`).join("\n");

export function cardsIn(text: string): readonly Card[] {
  return text
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([mac]) => mac)
    .map(([mac = "", name = ""]) => ({ mac_address: mac, logical_nic_name: name }));
}
