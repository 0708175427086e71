// Hosts × hosts: a row tells what one host found on its way to every other.
import { Button } from "@patternfly/react-core";
import { type KeyboardEvent, useMemo, useState } from "react";
import type { NetworkMap } from "../api/pictures";
import { counted, fullTime, moment } from "../numbers";
import { goWith } from "../route";
import { byPath, cellOf, cellText, cut, LETTERS, told } from "./paths";
import { Legend, Picture } from "./Picture";

const CELL = 24;
const LABEL = 168;
const HEAD = 26;
const LEGEND = [
  ["fine", "", "reached"],
  ["unreached", "✕", "no answer"],
  ["partial", "½", "in part"],
  ["mtu", "M", "packet size"],
  ["lossy", "L", "losses"],
  ["slow", "S", "slow"],
  ["unknown", "?", "not measured yet"],
] as const;

export function Matrix({ map }: { readonly map: NetworkMap }) {
  const { hosts } = map;
  const broken = useMemo(() => byPath(map.broken), [map.broken]);
  const first = map.broken[0];
  const at = (id: string | undefined): number => Math.max(0, hosts.findIndex((host) => host.id === id));
  const [chosen, setChosen] = useState<readonly [number, number] | null>(null);
  const [row, column] = chosen ?? [at(first?.source), first ? at(first.target) : 0];
  const source = hosts[Math.min(row, hosts.length - 1)];
  const target = hosts[Math.min(column, hosts.length - 1)];
  const move = (event: KeyboardEvent): void => {
    const [down, right] = STEPS[event.key] ?? [0, 0];
    if (down === 0 && right === 0) return;
    event.preventDefault();
    const kept = (value: number): number => Math.min(hosts.length - 1, Math.max(0, value));
    setChosen([kept(row + down), kept(column + right)]);
  };
  const names = new Map(hosts.map(({ id, name }) => [id, name]));
  const table = {
    titles: ["From", "To", "What is wrong"],
    rows: map.broken.map((path) => [names.get(path.source) ?? "", names.get(path.target) ?? "", told(path)]),
    empty: "Every host reaches every other host, as far as they have measured.",
  };
  return (
    <Picture id="matrix" title="Who reaches whom" table={table}>
      <p data-testid="matrix-summary">
        {map.broken.length === 0 ? "No broken path was found" : `${counted(map.broken.length, "broken path")} found`} between{" "}
        {counted(map.total, "host")}
        {map.total > hosts.length ? `; ${hosts.length} are shown, those with broken paths first` : ""}.
      </p>
      <Legend marks={LEGEND} />
      <div className="fl-drawn">
        <svg
          width={LABEL + hosts.length * CELL + 2}
          height={HEAD + hosts.length * CELL + 2}
          role="application"
          aria-roledescription="matrix"
          aria-label="Who reaches whom. Move with the arrow keys; what a cell says is read below."
          aria-describedby="matrix-cell"
          tabIndex={0}
          className="fl-matrix"
          onKeyDown={move}
        >
          <desc>Rows are the hosts that measured, columns the hosts they tried to reach.</desc>
          {hosts.map((host, index) => (
            <g key={host.id}>
              <text x={LABEL - 8} y={HEAD + index * CELL + CELL / 2} className="fl-matrix-name">
                {`${cut(host.name, 19)}  ${index + 1}`}
              </text>
              <text x={LABEL + index * CELL + CELL / 2} y={HEAD / 2} className="fl-matrix-number">
                {index + 1}
              </text>
            </g>
          ))}
          {hosts.flatMap((from, down) =>
            hosts.map((to, right) => {
              const cell = cellOf(from, to, broken);
              const [x, y] = [LABEL + right * CELL, HEAD + down * CELL];
              const here = down === row && right === column;
              return (
                <g
                  key={`${from.id} ${to.id}`}
                  className={`fl-cell fl-${cell}${here ? " fl-chosen" : ""}`}
                  data-cell={cell}
                  data-from={from.name}
                  data-to={to.name}
                  onClick={() => setChosen([down, right])}
                >
                  <title>{cellText(from, to, broken)}</title>
                  <rect x={x + 1.5} y={y + 1.5} width={CELL - 3} height={CELL - 3} rx="3" />
                  <text x={x + CELL / 2} y={y + CELL / 2}>
                    {LETTERS[cell]}
                  </text>
                </g>
              );
            }),
          )}
        </svg>
      </div>
      {source && target && (
        <div className="fl-row" data-testid="matrix-cell">
          <span id="matrix-cell" role="status" className="fl-anywhere">
            {cellText(source, target, broken)}
            {measured(source.reported_at)}
          </span>
          {[...new Set([source, target])].map((host) => (
            <Button key={host.id} variant="link" isInline onClick={() => goWith("host", host.id)}>
              {host.name}
            </Button>
          ))}
        </div>
      )}
    </Picture>
  );
}

const STEPS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

function measured(at: string | null): string {
  const time = moment(at);
  return time ? ` · measured ${fullTime(time)}` : "";
}
