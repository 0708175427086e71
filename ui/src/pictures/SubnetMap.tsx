// The addresses of one network: whose they are, and which ones are free.
import { Button } from "@patternfly/react-core";
import { type KeyboardEvent, useMemo, useState } from "react";
import { changeCluster } from "../api/actions";
import type { MappedNetwork } from "../api/pictures";
import type { Cluster } from "../api/types";
import { attempt } from "../parts/notes";
import { counted } from "../numbers";
import { Legend, Picture } from "./Picture";
import { addressAt, type Block, blocksOf, blockText, freeCount, type Use } from "./subnet";

const CELL = 20;
const COLUMNS = 32;
const LABEL = 112;
const LETTERS: Readonly<Record<Use, string>> = { api: "A", ingress: "I", gateway: "G", host: "H", free: "", foreign: "✕", unseen: "", edge: "–" };
const LEGEND = [
  ["api", "A", "API"],
  ["ingress", "I", "Ingress"],
  ["gateway", "G", "gateway"],
  ["host", "H", "host"],
  ["free", "", "free"],
  ["foreign", "✕", "in use by something else"],
  ["unseen", "", "not looked at yet"],
] as const;
const DRAFT = new Set(["insufficient", "pending-for-input", "ready"]);

export function SubnetMap({ cluster, network, number }: { readonly cluster: Cluster; readonly network: MappedNetwork; readonly number: number }) {
  const blocks = useMemo(() => blocksOf(network), [network]);
  const [chosen, setChosen] = useState(0);
  const block = blocks[Math.min(chosen, blocks.length - 1)];
  const id = `subnet-${number}`;
  const step = (event: KeyboardEvent): void => {
    const by = STEPS[event.key];
    if (by === undefined) return;
    event.preventDefault();
    setChosen(Math.min(blocks.length - 1, Math.max(0, chosen + by)));
  };
  const table = {
    titles: ["Address", "Is"],
    rows: [
      ...network.taken.map(({ address, name }) => [address, name]),
      ...network.free.map(([first, last]) => [range(network.cidr, first, last), "free"]),
    ],
    empty: "Nothing is known about its addresses yet.",
  };
  const count = freeCount(network);
  return (
    <Picture id={id} title={`Addresses in ${network.cidr}${network.machine ? " (machine network)" : ""}`} table={table}>
      <p>
        {network.scanned ? `${counted(count, "free address", "free addresses")}, as every host that looked has found.` : "No host has looked for free addresses here yet."}
      </p>
      {blocks.length === 0 ? (
        <p className="fl-subtle">The network is too large to draw; the table lists its known addresses.</p>
      ) : (
        <>
          <Legend marks={LEGEND} />
          <div className="fl-drawn">
            <svg
              width={LABEL + COLUMNS * CELL + 2}
              height={Math.ceil(blocks.length / COLUMNS) * CELL + 2}
              role="application"
              aria-roledescription="map of addresses"
              aria-label={`Addresses in ${network.cidr}. Move with the arrow keys; what an address is for is read below.`}
              aria-describedby={`${id}-cell`}
              tabIndex={0}
              onKeyDown={step}
            >
              {blocks.map((one, index) => {
                const [x, y] = [LABEL + (index % COLUMNS) * CELL, Math.floor(index / COLUMNS) * CELL];
                return (
                  <g
                    key={one.first}
                    className={`fl-cell fl-${one.use}${index === chosen ? " fl-chosen" : ""}`}
                    data-use={one.use}
                    onClick={() => setChosen(index)}
                  >
                    <title>{blockText(network, one)}</title>
                    <rect x={x + 1.5} y={y + 1.5} width={CELL - 3} height={CELL - 3} rx="3" />
                    <text x={x + CELL / 2} y={y + CELL / 2}>
                      {LETTERS[one.use]}
                    </text>
                  </g>
                );
              })}
              {blocks
                .filter((_, index) => index % COLUMNS === 0)
                .map((one, row) => (
                  <text key={one.first} x={LABEL - 8} y={row * CELL + CELL / 2} className="fl-matrix-name">
                    {addressAt(network.cidr, one.first)}
                  </text>
                ))}
            </svg>
          </div>
          {block && (
            <div className="fl-row" data-testid={`${id}-cell`}>
              <span id={`${id}-cell`} role="status" className="fl-anywhere">
                {blockText(network, block)}
              </span>
              {(network.machine || !cluster.machine_networks?.length) && DRAFT.has(cluster.status) && <Uses cluster={cluster} cidr={network.cidr} block={block} next={blocks.find(({ first, use }) => use === "free" && first > block.first)} />}
            </div>
          )}
        </>
      )}
    </Picture>
  );
}

const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -COLUMNS, ArrowDown: COLUMNS };

const range = (cidr: string, first: number, last: number): string =>
  first === last ? addressAt(cidr, first) : `${addressAt(cidr, first)} – ${addressAt(cidr, last)}`;

interface UsesProps {
  readonly cluster: Cluster;
  readonly cidr: string;
  readonly block: Block;
  readonly next: Block | undefined;
}

/** A free address becomes one of the cluster's two with a click; both at once while there is none. */
function Uses({ cluster, cidr, block, next }: UsesProps) {
  const single = (cluster.api_vips ?? []).length <= 1 && !cluster.user_managed_networking;
  if (block.use !== "free" || block.first !== block.last || !single) return null;
  const ip = addressAt(cidr, block.first);
  const use = (fields: Readonly<Record<string, unknown>>): void =>
    void attempt(() => changeCluster(cluster.id, fields), "The address was refused", "The address was changed.");
  if (!cluster.api_vips?.length) {
    if (!next) return null;
    const both = { api_vips: [{ ip }], ingress_vips: [{ ip: addressAt(cidr, next.first) }] };
    return (
      <Button variant="link" isInline onClick={() => use(both)}>
        Use it for the API, and the next free one for ingress
      </Button>
    );
  }
  return (
    <>
      <Button variant="link" isInline onClick={() => use({ api_vips: [{ ip }] })}>
        Use for the API
      </Button>
      <Button variant="link" isInline onClick={() => use({ ingress_vips: [{ ip }] })}>
        Use for ingress
      </Button>
    </>
  );
}
