// Labels as people type them: `rack=7, old-`. Pure.

export interface Labels {
  /** Undefined when nothing was typed; null takes a label away. */
  readonly labels: Readonly<Record<string, string | null>> | undefined;
  readonly wrong: string;
}

export function labelsIn(text: string): Labels {
  const parts = text.split(/[\s,]+/).filter(Boolean);
  const labels: Record<string, string | null> = {};
  for (const part of parts) {
    const set = /^([^=]+)=(.*)$/.exec(part);
    const gone = /^([^=]+)-$/.exec(part);
    if (set?.[1]) labels[set[1]] = set[2] ?? "";
    else if (gone?.[1]) labels[gone[1]] = null;
    else return { labels: undefined, wrong: part };
  }
  return { labels: parts.length > 0 ? labels : undefined, wrong: "" };
}
