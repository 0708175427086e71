// The columns of a table of hosts.
import { Button, Label } from "@patternfly/react-core";
import type { ReactNode } from "react";
import type { HostRow } from "../../api/own";
import { memory, storage } from "../../numbers";
import { roleName } from "../../words";
import { Moment } from "../Moment";
import { HostState, ToneIcon } from "../Status";
import { Stage } from "./Stage";

export interface Column {
  readonly key: string;
  readonly title: string;
  readonly sort: string;
  /** Narrow screens leave out what is not marked `fl-keep`. */
  readonly className: string;
  readonly cell: (row: HostRow, open: (row: HostRow) => void) => ReactNode;
}

export const COLUMNS: readonly Column[] = [
  {
    key: "name",
    title: "Name",
    sort: "name",
    className: "fl-keep fl-host-name",
    cell: (row, open) => (
      <Button variant="link" isInline onClick={() => open(row)} title={row.name}>
        {row.name}
      </Button>
    ),
  },
  {
    key: "role",
    title: "Role",
    sort: "role",
    className: "fl-medium",
    cell: (row) => (
      <>
        {roleName(row.effective_role)}
        {row.role === "auto-assign" && row.effective_role !== "auto-assign" && <span className="fl-subtle fl-small"> (auto)</span>}
        {row.bootstrap && (
          <>
            {" "}
            <Label isCompact variant="outline">bootstrap</Label>
          </>
        )}
      </>
    ),
  },
  {
    key: "status",
    title: "Status",
    sort: "status",
    className: "fl-keep",
    cell: (row) => (row.stage ? <Stage row={row} /> : <HostState status={row.status} info={row.status_info} />),
  },
  {
    key: "findings",
    title: "Findings",
    sort: "failing",
    className: "fl-medium",
    cell: (row) =>
      row.failing > 0 ? (
        <span className="fl-state">
          <ToneIcon tone="warning" />
          {row.failing}
        </span>
      ) : (
        <span className="fl-subtle">—</span>
      ),
  },
  { key: "cpus", title: "CPUs", sort: "cpus", className: "fl-number fl-wide-only", cell: (row) => row.cpus || "—" },
  {
    key: "memory",
    title: "Memory",
    sort: "memory",
    className: "fl-number fl-wide-only",
    cell: (row) => memory(row.memory_bytes),
  },
  {
    key: "disk",
    title: "Storage",
    sort: "disk",
    className: "fl-number fl-wide-only",
    cell: (row) => storage(row.disk_bytes),
  },
  {
    key: "address",
    title: "Address",
    sort: "",
    className: "fl-mono fl-wider-only fl-nowrap",
    cell: (row) => (row.addresses[0] ?? "—").replace(/\/\d+$/, ""),
  },
  {
    key: "registered",
    title: "Discovered",
    sort: "registered_at",
    className: "fl-widest-only fl-nowrap",
    cell: (row) => <Moment at={row.registered_at} />,
  },
];
