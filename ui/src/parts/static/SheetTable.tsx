// The sheet: a row per host, a cell per setting; a paste from a spreadsheet fills it.
import { Button } from "@patternfly/react-core";
import TrashIcon from "@patternfly/react-icons/dist/esm/icons/trash-icon";
import type { ClipboardEvent } from "react";
import { sentence } from "../../api/http";
import { note } from "../notes";
import { type Cells, COLUMNS, type Column, filled, NO_CELLS, tableIn } from "./sheet";
import type { Sheet } from "./useSheet";

export function SheetTable({ sheet, onYaml }: { readonly sheet: Sheet; readonly onYaml: () => void }) {
  const { entries, problems, setCells, remove } = sheet;
  const all = entries.map(({ cells }) => cells);
  const change = (row: number, column: Column, text: string): void =>
    setCells(all.map((cells, place) => (place === row && cells ? { ...cells, [column]: text } : cells)));
  const paste = (row: number, column: Column, event: ClipboardEvent): void => {
    const text = event.clipboardData.getData("text");
    if (!/[\t\n]/.test(text.trim())) return;
    event.preventDefault();
    try {
      setCells(pasted(all, row, column, text));
    } catch (failure) {
      note("danger", "This cannot be pasted", sentence(failure));
    }
  };
  return (
    <div className="fl-stack">
      <div className="fl-sheet" tabIndex={0} role="region" aria-label="Table of static networks" hidden={entries.length === 0}>
        <table aria-label="Static networks">
          <thead>
            <tr>
              <th scope="col">#</th>
              {COLUMNS.map(([column, title]) => (
                <th key={column} scope="col">
                  {title}
                </th>
              ))}
              <th scope="col">
                <span className="pf-v6-screen-reader">Remove</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {entries.map(({ key, cells, host }, row) => (
              <tr key={key} className={problems.some((one) => one.host === row && one.severity === "error") ? "fl-sheet-wrong" : ""}>
                <th scope="row">{row + 1}</th>
                {cells ? (
                  COLUMNS.map(([column, title, example]) => (
                    <td key={column}>
                      <input
                        aria-label={`${title}, host ${row + 1}`}
                        data-testid={`cell-${row}-${column}`}
                        value={cells[column]}
                        placeholder={row === 0 ? example : ""}
                        size={Math.min(LONGEST, Math.max(WIDTHS[column] ?? 13, cells[column].length))}
                        spellCheck={false}
                        autoComplete="off"
                        onChange={(event) => change(row, column, event.target.value)}
                        onPaste={(event) => paste(row, column, event)}
                      />
                    </td>
                  ))
                ) : (
                  <td colSpan={COLUMNS.length}>
                    <span className="fl-mono">{host.mac_interface_map[0]?.mac_address ?? ""}</span> says more than a row can.{" "}
                    <Button variant="link" isInline onClick={onYaml}>
                      Look at it as YAML
                    </Button>
                  </td>
                )}
                <td>
                  <Button variant="plain" size="sm" aria-label={`Remove host ${row + 1}`} icon={<TrashIcon />} onClick={() => remove(row)} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div className="fl-row">
        <Button variant="secondary" size="sm" id="static-add" onClick={() => setCells([...all, copied(all)])}>
          Add a host
        </Button>
        <span className="fl-subtle fl-small">
          {entries.length === 0 ? "Then paste a table from a spreadsheet into its first cell, or type. " : "Paste from a spreadsheet into any cell. "}Several MAC addresses are bonded; <code className="fl-mono">dhcp</code> asks for an address.
        </span>
      </div>
    </div>
  );
}

const WIDTHS: Readonly<Partial<Record<Column, number>>> = { mac_addresses: 18, vlan: 4, mtu: 5, bond_mode: 12, ipv6: 16 };
/** Three cards in a bond are seen whole. */
const LONGEST = 56;

/** What hosts of one site share is taken over from the one above. */
function copied(all: readonly (Cells | null)[]): Cells {
  const above = all.findLast((cells) => cells !== null);
  return above ? { ...above, mac_addresses: "", ipv4: "", ipv6: "" } : NO_CELLS;
}

function pasted(all: readonly (Cells | null)[], row: number, column: Column, text: string): readonly (Cells | null)[] {
  const table = tableIn(text);
  if (table) return [...all.filter((cells) => cells === null || cells.mac_addresses !== ""), ...table];
  const rows = filled(all.slice(row).map((cells) => cells ?? NO_CELLS), 0, column, text);
  return [...all.slice(0, row), ...rows];
}
