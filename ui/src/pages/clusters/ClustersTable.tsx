import { Progress } from "@patternfly/react-core";
import { Table, Tbody, Td, Th, Thead, Tr } from "@patternfly/react-table";
import type { ClusterRow } from "../../api/own";
import { Link } from "../../parts/Link";
import { Moment } from "../../parts/Moment";
import { ClusterState } from "../../parts/Status";
import { paths } from "../../route";
import { INSTALLING } from "../../words";
import { ClusterMenu } from "./ClusterMenu";
import type { Column, View } from "./rows";

const COLUMNS: readonly (readonly [Column, string])[] = [
  ["name", "Name"],
  ["status", "Status"],
  ["base_domain", "Base domain"],
  ["version", "Version"],
  ["hosts", "Hosts"],
  ["created_at", "Created"],
];

interface Props {
  readonly rows: readonly ClusterRow[];
  readonly view: View;
  readonly onChange: (next: Partial<View>) => void;
}

export function ClustersTable({ rows, view, onChange }: Props) {
  const sorted = COLUMNS.findIndex(([column]) => column === view.column);
  return (
    <Table aria-label="Clusters" variant="compact" id="clusters">
      <Thead>
        <Tr>
          {COLUMNS.map(([column, title], index) => (
            <Th
              key={column}
              modifier="nowrap"
              sort={{
                columnIndex: index,
                sortBy: { index: sorted, direction: view.descending ? "desc" : "asc" },
                onSort: (_, __, direction) => onChange({ column, descending: direction === "desc" }),
              }}
            >
              {title}
            </Th>
          ))}
          <Th screenReaderText="Actions" />
        </Tr>
      </Thead>
      <Tbody>
        {rows.map((row) => (
          <Tr key={row.id} data-testid={`cluster-${row.name}`}>
            <Td dataLabel="Name">
              <Link to={paths.cluster(row.id)}>{row.name}</Link>
              {row.kind === "AddHostsCluster" && <span className="fl-subtle fl-small"> day 2</span>}
            </Td>
            <Td dataLabel="Status">
              <ClusterState status={row.status} info={row.status_info} />
              {INSTALLING.has(row.status) && (
                <Progress
                  aria-label={`Progress of ${row.name}`}
                  value={row.percent}
                  size="sm"
                  measureLocation="outside"
                  className="fl-row-progress"
                />
              )}
            </Td>
            <Td dataLabel="Base domain" className="fl-anywhere">
              {row.base_domain || "—"}
            </Td>
            <Td dataLabel="Version">
              {row.version || "—"} <span className="fl-subtle fl-small">{row.architecture}</span>
            </Td>
            <Td dataLabel="Hosts" className="fl-number">
              {row.hosts}
              {row.ready > 0 && row.ready < row.hosts && <span className="fl-subtle fl-small"> ({row.ready} ready)</span>}
            </Td>
            <Td dataLabel="Created">
              <Moment at={row.created_at} />
            </Td>
            <Td isActionCell>
              <ClusterMenu row={row} />
            </Td>
          </Tr>
        ))}
      </Tbody>
    </Table>
  );
}
