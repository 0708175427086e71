// Server-sent events as text → messages. Pure, so that cut lines and odd chunks can be tested.

export interface Message {
  readonly id: string;
  readonly data: string;
}

export interface Parsed {
  readonly messages: readonly Message[];
  /** What is left of an unfinished block; put it before the next chunk. */
  readonly rest: string;
  /** The last id seen, also of blocks without data. */
  readonly lastId: string;
}

export function parseChunk(text: string, lastId: string): Parsed {
  const blocks = text.split(/\r?\n\r?\n/);
  const rest = blocks.pop() ?? "";
  const messages: Message[] = [];
  let id = lastId;
  for (const block of blocks) {
    const data: string[] = [];
    for (const line of block.split(/\r?\n/)) {
      const colon = line.indexOf(":");
      if (colon === 0) continue;
      const name = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (name === "id") id = value;
      else if (name === "data") data.push(value);
    }
    if (data.length > 0) messages.push({ id, data: data.join("\n") });
  }
  return { messages, rest, lastId: id };
}
