// A log that grows, kept within bounds.

export interface LogPart {
  readonly offset: number;
  readonly next: number;
  readonly end: number;
  readonly text: string;
}

export interface ShownLog {
  readonly text: string;
  /** Where to go on; null before the first answer. */
  readonly next: number | null;
  /** Earlier lines are missing. */
  readonly lost: boolean;
}

export const NO_LOG: ShownLog = { text: "", next: null, lost: false };
/** Characters kept in the page. */
const MOST = 1_000_000;
const KEPT = 750_000;

export function added(shown: ShownLog, part: LogPart): ShownLog {
  const gap = part.text !== "" && part.offset > (shown.next ?? 0);
  const text = gap ? part.text : shown.text + part.text;
  const next = part.text === "" && shown.next !== null ? shown.next : part.next;
  if (text.length <= MOST) return { text, next, lost: shown.lost || gap };
  const cut = text.indexOf("\n", text.length - KEPT) + 1;
  return { text: text.slice(cut || text.length - KEPT), next, lost: true };
}

/** Only the lines that contain what is wanted, whatever the case. */
export function matching(text: string, wanted: string): string {
  if (wanted === "") return text;
  const sought = wanted.toLowerCase();
  return text.split("\n").filter((line) => line.toLowerCase().includes(sought)).join("\n");
}
