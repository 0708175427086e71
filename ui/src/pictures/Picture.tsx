// The frame of every picture: a heading, the drawing, and the same as a table for whoever prefers or needs it.
import { Button, Card, CardBody, CardHeader, CardTitle } from "@patternfly/react-core";
import { Table, Tbody, Td, Th, Thead, Tr } from "@patternfly/react-table";
import { type ReactNode, useState } from "react";
import "./pictures.css";

export interface Rows {
  readonly titles: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly empty: string;
}

interface Props {
  readonly id: string;
  readonly title: string;
  readonly table: Rows;
  readonly children: ReactNode;
}

export function Picture({ id, title, table, children }: Props) {
  const [asTable, setAsTable] = useState(false);
  const toggle = (
    <Button variant="link" isInline size="sm" id={`${id}-as-table`} aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
      {asTable ? "As a picture" : "As a table"}
    </Button>
  );
  return (
    <Card isCompact id={id}>
      <CardHeader actions={{ actions: toggle, hasNoOffset: true }}>
        <CardTitle component="h2">{title}</CardTitle>
      </CardHeader>
      <CardBody className="fl-stack">{asTable ? <Same table={table} label={title} /> : children}</CardBody>
    </Card>
  );
}

function Same({ table, label }: { readonly table: Rows; readonly label: string }) {
  if (table.rows.length === 0) return <p>{table.empty}</p>;
  return (
    <Table aria-label={label} variant="compact" gridBreakPoint="grid-md">
      <Thead>
        <Tr>
          {table.titles.map((title) => (
            <Th key={title}>{title}</Th>
          ))}
        </Tr>
      </Thead>
      <Tbody>
        {table.rows.map((cells, number) => (
          <Tr key={`${number} ${cells[0] ?? ""}`}>
            {cells.map((cell, column) => (
              <Td key={table.titles[column]} dataLabel={table.titles[column] ?? ""} className="fl-anywhere">
                {cell}
              </Td>
            ))}
          </Tr>
        ))}
      </Tbody>
    </Table>
  );
}

/** What the marks of a picture mean. The mark is drawn with the same class and letter as in the picture. */
export function Legend({ marks }: { readonly marks: readonly (readonly [string, string, string])[] }) {
  return (
    <ul className="fl-legend" aria-label="Legend">
      {marks.map(([kind, letter, text]) => (
        <li key={kind}>
          <svg width="16" height="16" aria-hidden="true" className={`fl-cell fl-${kind}`}>
            <rect x="0.5" y="0.5" width="15" height="15" rx="3" />
            <text x="8" y="8">
              {letter}
            </text>
          </svg>
          {text}
        </li>
      ))}
    </ul>
  );
}
