// Hosts as a table of any length: only the rows in sight exist, the service filters and sorts.
import { Checkbox } from "@patternfly/react-core";
import { Table, Tbody, Td, Th, Thead, Tr } from "@patternfly/react-table";
import { type UIEvent, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { HostsPlace } from "../../api/reads";
import type { HostPage, HostRow } from "../../api/own";
import { Failure, Waiting } from "../Waiting";
import { COLUMNS } from "./columns";
import { HostMenu } from "./HostMenu";
import { type HostsView, useHostWindow } from "./useHostWindow";
import { inSight } from "./window";

const ROW = 41;

export type Chosen = ReadonlyMap<string, HostRow>;

interface Props {
  readonly place: HostsPlace;
  readonly view: HostsView;
  readonly onView: (next: Partial<HostsView>) => void;
  readonly chosen: Chosen;
  readonly onChosen: (chosen: Chosen) => void;
  readonly onPage: (page: HostPage) => void;
  readonly onHost: (row: HostRow) => void;
  readonly active: string;
}

export function HostsTable({ place, view, onView, chosen, onChosen, onPage, onHost, active }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [scrolled, setScrolled] = useState({ top: 0, height: 600 });
  const [count, setCount] = useState(0);
  const sight = inSight(scrolled.top, scrolled.height, ROW, count);
  const shown = useHostWindow(place, view, sight.first, Math.max(sight.last, 0));
  const { page } = shown;
  useEffect(() => {
    if (!page) return;
    setCount(page.matching);
    onPage(page);
  }, [page, onPage]);
  useLayoutEffect(() => {
    const height = box.current?.clientHeight ?? 600;
    setScrolled((before) => (before.height === height ? before : { ...before, height }));
  });
  const onScroll = (event: UIEvent<HTMLDivElement>): void => {
    const { scrollTop, clientHeight } = event.currentTarget;
    setScrolled({ top: scrollTop, height: clientHeight });
  };
  if (!page) return shown.error ? <Failure title="The hosts cannot be listed" live={{ ...shown, data: undefined, loading: false }} /> : <Waiting />;
  const rows: HostRow[] = [];
  for (let index = sight.first; index <= sight.last; index += 1) {
    const row = shown.rowAt(index);
    if (row) rows.push(row);
  }
  const toggle = (row: HostRow): void => {
    const after = new Map(chosen);
    if (!after.delete(row.id)) after.set(row.id, row);
    onChosen(after);
  };
  return (
    <div className="fl-hosts" ref={box} onScroll={onScroll} tabIndex={0} role="region" aria-label="Table of hosts">
      <Table aria-label="Hosts" aria-rowcount={count} variant="compact" gridBreakPoint="" isStickyHeader id="hosts">
        <Head view={view} onView={onView} />
        <Tbody>
          <Gap rows={sight.first} />
          {rows.map((row, offset) => (
            <Tr
              key={row.id}
              aria-rowindex={sight.first + offset + 2}
              isRowSelected={row.id === active}
              data-testid={`host-${row.name}`}
              className="fl-host-row"
            >
              <Td className="fl-check">
                <Checkbox
                  id={`choose-${row.id}`}
                  aria-label={`Choose ${row.name}`}
                  isChecked={chosen.has(row.id)}
                  onChange={() => toggle(row)}
                />
              </Td>
              {COLUMNS.map(({ key, title, cell, className }) => (
                <Td key={key} dataLabel={title} className={className} modifier="nowrap">
                  {cell(row, onHost)}
                </Td>
              ))}
              <Td isActionCell>
                <HostMenu row={row} onOpen={() => onHost(row)} />
              </Td>
            </Tr>
          ))}
          <Gap rows={Math.max(0, count - 1 - sight.last)} />
        </Tbody>
      </Table>
    </div>
  );
}

function Gap({ rows }: { readonly rows: number }) {
  return rows > 0 ? (
    <tr aria-hidden="true" className="fl-gap-row">
      <td colSpan={COLUMNS.length + 2} style={{ height: rows * ROW }} />
    </tr>
  ) : null;
}

function Head({ view, onView }: Pick<Props, "view" | "onView">) {
  const sorted = COLUMNS.findIndex(({ sort }) => sort === view.sort);
  return (
    <Thead>
      <Tr>
        <Th screenReaderText="Choose" className="fl-check" />
        {COLUMNS.map(({ key, title, sort, className }, index) => (
          <Th
            key={key}
            className={className}
            modifier="nowrap"
            {...(sort
              ? {
                  sort: {
                    columnIndex: index,
                    sortBy: { index: sorted, direction: view.descending ? ("desc" as const) : ("asc" as const) },
                    onSort: (_: unknown, __: number, direction: string) =>
                      onView({ sort, descending: direction === "desc" }),
                  },
                }
              : {})}
          >
            {title}
          </Th>
        ))}
        <Th screenReaderText="Actions" />
      </Tr>
    </Thead>
  );
}
