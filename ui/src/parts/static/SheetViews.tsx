// The same hosts as CSV, as YAML, and as what each of them will get.
import { Alert, Button, TextArea } from "@patternfly/react-core";
import { useState } from "react";
import { sentence } from "../../api/http";
import { Facts } from "../Facts";
import { cardsIn, cardsText, type Cells, csvOf, tableIn } from "./sheet";
import type { Entry, Sheet } from "./useSheet";

export function CsvView({ sheet }: { readonly sheet: Sheet }) {
  const rows = sheet.entries.flatMap(({ cells }) => (cells ? [cells] : []));
  const [text, setText] = useState(() => csvOf(rows));
  const [wrong, setWrong] = useState("");
  const use = (): void => {
    try {
      const table = tableIn(text);
      if (!table) throw new Error("The first line must name the columns; mac_addresses is needed.");
      // Hosts that no row can describe are no part of the table: they stay.
      const kept: (Cells | null)[] = sheet.entries.filter(({ cells }) => cells === null).map(() => null);
      setWrong("");
      if (kept.length === 0) sheet.setCells(table);
      else throw new Error("Some hosts are described by YAML that no row can say. Remove them first, or change the others in the table.");
    } catch (failure) {
      setWrong(sentence(failure));
    }
  };
  return (
    <div className="fl-stack">
      <TextArea id="static-csv" aria-label="Hosts as CSV" className="fl-mono" rows={10} resizeOrientation="vertical" value={text} onChange={(_, next) => setText(next)} spellCheck={false} />
      {wrong && <Alert isInline variant="danger" title={wrong} />}
      <Button variant="secondary" size="sm" id="static-use-csv" className="fl-start" onClick={use}>
        Use this table
      </Button>
    </div>
  );
}

export function YamlView({ sheet }: { readonly sheet: Sheet }) {
  if (sheet.entries.length === 0) return <p className="fl-subtle">There are no hosts yet. Add one in the table.</p>;
  return (
    <ul className="fl-cases">
      {sheet.entries.map(({ key, host }, index) => (
        <li key={key} className="fl-case">
          <strong>Host {index + 1}</strong>
          <TextArea
            aria-label={`Description of host ${index + 1} (YAML)`}
            data-testid={`yaml-${index}`}
            className="fl-mono"
            rows={Math.min(24, host.network_yaml.split("\n").length + 1)}
            resizeOrientation="vertical"
            spellCheck={false}
            value={host.network_yaml}
            onChange={(_, network_yaml) => sheet.setHost(index, { ...host, network_yaml })}
          />
          <Cards index={index} sheet={sheet} entry={{ key, host, cells: null }} />
        </li>
      ))}
    </ul>
  );
}

function Cards({ sheet, entry: { host }, index }: { readonly sheet: Sheet; readonly entry: Entry; readonly index: number }) {
  const [text, setText] = useState(() => cardsText(host.mac_interface_map));
  return (
    <TextArea
      aria-label={`MAC addresses and names of host ${index + 1}`}
      data-testid={`cards-${index}`}
      className="fl-mono"
      rows={Math.max(2, host.mac_interface_map.length)}
      resizeOrientation="vertical"
      spellCheck={false}
      value={text}
      onChange={(_, next) => {
        setText(next);
        sheet.setHost(index, { ...host, mac_interface_map: cardsIn(next) });
      }}
    />
  );
}

export function PreviewView({ sheet }: { readonly sheet: Sheet }) {
  if (sheet.entries.length === 0) return <p className="fl-subtle">There are no hosts yet. Add one in the table.</p>;
  return (
    <div className="fl-grid">
      {sheet.entries.map(({ key, cells, host }, index) => (
        <section key={key} className="fl-case" aria-label={`Host ${index + 1}`} data-testid={`preview-${index}`}>
          <strong>Host {index + 1}</strong>
          {cells ? <Facts facts={gets(cells)} /> : <pre className="fl-mono fl-yaml">{host.network_yaml}</pre>}
          <p className="fl-subtle fl-small">
            Recognised by {host.mac_interface_map.map(({ mac_address }) => mac_address).join(" or ") || "nothing: give it a MAC address"}
          </p>
        </section>
      ))}
    </div>
  );
}

function gets(cells: Cells): readonly (readonly [string, string])[] {
  const macs = cells.mac_addresses.split(/[\s,;]+/).filter(Boolean);
  const bond = macs.length > 1 ? `bond0 (${cells.bond_mode || "active-backup"}) of ${macs.length} cards` : "one card";
  const address = (text: string): string => (text === "dhcp" ? "asked for (DHCP)" : text || "none");
  return [
    ["Interface", cells.vlan ? `${bond}, VLAN ${cells.vlan} on top` : bond],
    ["IPv4", address(cells.ipv4)],
    ["Default route", [cells.ipv4_gateway, cells.ipv6_gateway].filter(Boolean).join(", ")],
    ["IPv6", address(cells.ipv6)],
    ["DNS", [cells.dns, cells.dns_search && `search ${cells.dns_search}`].filter(Boolean).join("; ")],
    ["MTU", cells.mtu],
  ];
}
