// The hosts being described: rows where a row can say it, descriptions always, and what is wrong with them.
import { useCallback, useEffect, useRef, useState } from "react";
import { call, sentence, V1 } from "../../api/http";
import { type Cells, cellsOf, type DescribedHost, type NetworkRow, rowOf } from "./sheet";

export interface Entry {
  readonly key: number;
  /** None: the description says more than a row can. */
  readonly cells: Cells | null;
  readonly host: DescribedHost;
}

export interface NetworkProblem {
  readonly host: number;
  readonly interface: string;
  readonly code: string;
  readonly severity: "error" | "warning";
  readonly message: string;
}

export interface Sheet {
  readonly entries: readonly Entry[];
  readonly problems: readonly NetworkProblem[];
  /** Why the rows cannot be turned into descriptions, or nothing. */
  readonly refusal: string;
  /** Something is being asked of the service. */
  readonly busy: boolean;
  readonly changed: boolean;
  readonly setCells: (sheet: readonly (Cells | null)[]) => void;
  readonly setHost: (index: number, host: DescribedHost) => void;
  readonly remove: (index: number) => void;
  readonly reset: () => void;
}

const PAUSE = 350;
const EMPTY: DescribedHost = { network_yaml: "", mac_interface_map: [] };
const ASK = `${V1}/static-network`;
let lastKey = 0;
const key = (): number => (lastKey += 1);

async function read(hosts: readonly DescribedHost[]): Promise<readonly (Cells | null)[]> {
  if (hosts.length === 0) return [];
  const { rows } = await call<{ readonly rows: readonly (NetworkRow | null)[] }>("POST", `${ASK}/read`, { body: { hosts } });
  return rows.map((row) => row && cellsOf(row));
}

/** Descriptions made anew from the rows; hosts without a row keep theirs. */
async function rendered(entries: readonly Entry[]): Promise<readonly Entry[]> {
  const rows = entries.flatMap(({ cells }, index) => (cells ? [rowOf(cells, index + 1)] : []));
  if (rows.length === 0) return entries;
  const { hosts } = await call<{ readonly hosts: readonly DescribedHost[] }>("POST", `${ASK}/render`, { body: { rows } });
  let next = 0;
  return entries.map((entry) => {
    const host = entry.cells ? hosts[next++] : undefined;
    return host ? { ...entry, host } : entry;
  });
}

export function useSheet(stored: readonly DescribedHost[], version: string): Sheet {
  const [entries, setEntries] = useState<readonly Entry[]>([]);
  const [problems, setProblems] = useState<readonly NetworkProblem[]>([]);
  const [refusal, setRefusal] = useState("");
  const [busy, setBusy] = useState(false);
  const [changed, setChanged] = useState(false);
  const turn = useRef(0);
  const timer = useRef(0);

  const check = useCallback(
    async (asked: readonly Entry[], mine: number): Promise<void> => {
      const hosts = asked.map(({ host }) => host);
      const found =
        hosts.length === 0
          ? []
          : (await call<{ readonly problems: readonly NetworkProblem[] }>("POST", `${ASK}/check`, { body: { hosts, openshift_version: version } })).problems;
      if (mine === turn.current) setProblems(found);
    },
    [version],
  );

  /** Shows the entries at once; asks the service when the typing pauses. */
  const follow = useCallback(
    (next: readonly Entry[], make: (entries: readonly Entry[]) => Promise<readonly Entry[]>, pause = PAUSE): void => {
      turn.current += 1;
      const mine = turn.current;
      setEntries(next);
      setBusy(true);
      window.clearTimeout(timer.current);
      timer.current = window.setTimeout(() => {
        make(next)
          .then(async (made) => {
            if (mine !== turn.current) return;
            setEntries(made);
            setRefusal("");
            await check(made, mine);
          })
          .catch((failure: unknown) => mine === turn.current && setRefusal(sentence(failure)))
          .finally(() => mine === turn.current && setBusy(false));
      }, pause);
    },
    [check],
  );

  const reset = useCallback((): void => {
    setChanged(false);
    const plain = stored.map((host) => ({ key: key(), cells: null, host }));
    follow(plain, async (all) => (await read(stored)).map((cells, index) => ({ ...(all[index] ?? { key: key(), host: EMPTY }), cells })), 0);
  }, [stored, follow]);
  useEffect(reset, [reset]);
  useEffect(() => () => window.clearTimeout(timer.current), []);

  const setCells = (sheet: readonly (Cells | null)[]): void => {
    setChanged(true);
    follow(
      sheet.map((cells, index) => ({ ...(entries[index] ?? { key: key(), host: EMPTY }), cells })),
      rendered,
    );
  };
  const setHost = (index: number, host: DescribedHost): void => {
    setChanged(true);
    follow(
      entries.map((entry, place) => (place === index ? { ...entry, cells: null, host } : entry)),
      async (all) => {
        const [cells = null] = await read([host]);
        return all.map((entry, place) => (place === index ? { ...entry, cells } : entry));
      },
    );
  };
  const remove = (index: number): void => {
    setChanged(true);
    follow(
      entries.filter((_, place) => place !== index),
      rendered,
    );
  };
  return { entries, problems, refusal, busy, changed, setCells, setHost, remove, reset };
}
