// Networks as lines, hosts hung below them, and a red bow between two hosts that do not reach each other.
import { type KeyboardEvent, useMemo } from "react";
import type { MappedNetwork, NetworkMap } from "../api/pictures";
import { goWith } from "../route";
import { roleName } from "../words";
import { brokenPairs, cut, pairText, worst } from "./paths";
import { Picture } from "./Picture";

const MOST = 30;
const BOX = 118;
const STEP = 134;
const TALL = 46;
const LINE = 40;
const EDGE = 16;

export function Graph({ map }: { readonly map: NetworkMap }) {
  const hosts = map.hosts.slice(0, MOST);
  const networks = map.networks.filter(({ cidr }) => hosts.some((host) => host.networks.includes(cidr)));
  const place = new Map(hosts.map(({ id }, index) => [id, index]));
  const pairs = useMemo(() => brokenPairs(map), [map]).filter(({ one, other }) => place.has(one.id) && place.has(other.id));
  const width = EDGE * 2 + Math.max(3, hosts.length) * STEP - (STEP - BOX);
  const top = networks.length * LINE + 34;
  const spread = Math.max(0, ...pairs.map(({ one, other }) => Math.abs((place.get(one.id) ?? 0) - (place.get(other.id) ?? 0))));
  const bow = pairs.length > 0 ? 34 + spread * 16 : 0;
  const middle = (id: string): number => EDGE + (place.get(id) ?? 0) * STEP + BOX / 2;
  const names = new Map(map.hosts.map((host) => [host.id, host.name]));
  const table = {
    titles: ["Network", "Hosts", "Broken between"],
    rows: networks.map(({ cidr }) => [
      cidr,
      map.hosts.filter((host) => host.networks.includes(cidr)).map(({ name }) => name).join(", "),
      map.broken.filter(({ over }) => over.includes(cidr)).map((path) => `${names.get(path.source) ?? ""} → ${names.get(path.target) ?? ""}`).join(", "),
    ]),
    empty: "No host has told of its networks yet.",
  };
  return (
    <Picture id="graph" title="Hosts and networks" table={table}>
      <div className="fl-drawn">
        <svg width={width} height={top + TALL + bow + 8} role="group" aria-label="Hosts and the networks they are in" className="fl-graph">
          <desc>{pairs.length === 0 ? "No broken path between the hosts." : pairs.map(pairText).join(". ")}</desc>
          {networks.map((network, index) => (
            <g key={network.cidr} className={`fl-net fl-net-${index % 4}`}>
              <text x={EDGE} y={index * LINE + 15}>
                {networkText(network)}
              </text>
              <line x1={EDGE} x2={width - EDGE} y1={index * LINE + 24} y2={index * LINE + 24} />
              {hosts
                .filter((host) => host.networks.includes(network.cidr))
                .map((host) => {
                  const x = middle(host.id) + (index - (networks.length - 1) / 2) * 14;
                  return (
                    <g key={host.id}>
                      <line x1={x} x2={x} y1={index * LINE + 24} y2={top} className="fl-drop" />
                      <circle cx={x} cy={index * LINE + 24} r="4" />
                    </g>
                  );
                })}
            </g>
          ))}
          {pairs.map((pair) => {
            const [from, to] = [middle(pair.one.id), middle(pair.other.id)];
            const deep = 26 + (Math.abs(from - to) / STEP) * 16;
            const y = top + TALL;
            return (
              <g key={pair.key} className={`fl-bow fl-${worst(pair)}`} data-testid="broken-pair" data-pair={`${pair.one.name} ${pair.other.name}`}>
                <title>{pairText(pair)}</title>
                <path d={`M ${from} ${y} C ${from} ${y + deep}, ${to} ${y + deep}, ${to} ${y}`} />
                <circle cx={(from + to) / 2} cy={y + deep * 0.75} r="9" />
                <text x={(from + to) / 2} y={y + deep * 0.75}>
                  ✕
                </text>
              </g>
            );
          })}
          {hosts.map((host) => {
            const open = (): void => goWith("host", host.id);
            const hurt = pairs.some(({ one, other }) => one.id === host.id || other.id === host.id);
            return (
              <g
                key={host.id}
                className={`fl-box${hurt ? " fl-hurt" : ""}`}
                role="button"
                tabIndex={0}
                onClick={open}
                onKeyDown={(event: KeyboardEvent) => {
                  if (event.key !== "Enter" && event.key !== " ") return;
                  event.preventDefault();
                  open();
                }}
              >
                <title>{`${host.name}, ${roleName(host.role)}${hurt ? ", which has a broken path" : ""}`}</title>
                <rect x={middle(host.id) - BOX / 2} y={top} width={BOX} height={TALL} rx="6" />
                <text x={middle(host.id)} y={top + 19} className="fl-box-name">
                  {cut(host.name, 14)}
                </text>
                <text x={middle(host.id)} y={top + 36} className="fl-box-role">
                  {roleName(host.role)}
                </text>
              </g>
            );
          })}
        </svg>
      </div>
      {pairs.length > 0 && (
        <ul className="fl-broken" aria-label="Broken pairs">
          {pairs.slice(0, MOST).map((pair) => (
            <li key={pair.key}>{pairText(pair)}</li>
          ))}
        </ul>
      )}
      {map.total > hosts.length && <p className="fl-subtle">{map.total - hosts.length} more hosts are not drawn.</p>}
    </Picture>
  );
}

function networkText({ cidr, machine, taken }: MappedNetwork): string {
  const named = taken.filter(({ kind }) => kind !== "host").map(({ name, address }) => `${name} ${address}`);
  return [cidr, machine ? "machine network" : "", ...named].filter(Boolean).join("  ·  ");
}
