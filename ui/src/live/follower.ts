// Follows what changes in the service, comes back by itself where it was cut, and says how it is. Runs in a worker that
// all pages of the browser share, or in the page itself where there are no such workers.
import { V1 } from "../api/paths";
import type { Changed } from "../api/own";
import { parseChunk } from "./sse";

export type LineState = "connecting" | "live" | "lost";

export interface Line {
  readonly state: LineState;
  /** When the last sign of life came, in milliseconds since 1970. */
  readonly heardAt: number;
}

export type Told =
  | { readonly kind: "line"; readonly line: Line }
  | { readonly kind: "changes"; readonly changes: readonly Changed[] }
  /** A line is there without knowing what was missed before it: everything on the screen may be old. */
  | { readonly kind: "fresh" }
  /** The service wants to know who this is. */
  | { readonly kind: "login" };

/** What pages ask of the line. */
export type Wish = "wake" | "cut" | "restart";

const FIRST_WAIT = 500;
const LONGEST_WAIT = 10_000;
/** The service speaks at least every 15 seconds. */
const SILENCE = 40_000;

export class Follower {
  line: Line = { state: "connecting", heardAt: 0 };
  private readonly tell: (told: Told) => void;
  private lastId = "";
  private wait = FIRST_WAIT;
  private wake: () => void = () => undefined;
  private cut = new AbortController();

  constructor(tell: (told: Told) => void) {
    this.tell = tell;
    void this.run();
  }

  do(wish: Wish): void {
    if (wish === "restart") {
      // As somebody else perhaps: after logging in, and after logging out.
      this.lastId = "";
      this.wait = FIRST_WAIT;
    }
    if (wish !== "wake") this.cut.abort();
    if (wish !== "cut") this.wake();
  }

  private set(state: LineState, heardAt = this.line.heardAt): void {
    this.line = { state, heardAt };
    this.tell({ kind: "line", line: this.line });
  }

  private async run(): Promise<never> {
    for (;;) {
      try {
        await this.follow();
      } catch {
        // Whatever cut the line, the answer is to come back.
      }
      this.set("lost");
      await new Promise<void>((resolve) => {
        this.wake = resolve;
        setTimeout(resolve, this.wait);
      });
      this.wait = Math.min(this.wait * 2, LONGEST_WAIT);
    }
  }

  private async follow(): Promise<void> {
    const cut = new AbortController();
    this.cut = cut;
    const headers: Record<string, string> = { accept: "text/event-stream" };
    if (this.lastId) headers["last-event-id"] = this.lastId;
    const answer = await fetch(`${V1}/changes`, { headers, signal: cut.signal, cache: "no-store" });
    if (!answer.ok || !answer.body) {
      // A number the service no longer understands must not keep us out for ever.
      if (answer.status === 400) this.lastId = "";
      if (answer.status === 401) this.tell({ kind: "login" });
      throw new Error(String(answer.status));
    }
    if (!this.lastId) this.tell({ kind: "fresh" });
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      for (;;) {
        clearTimeout(timer);
        timer = setTimeout(() => cut.abort(), SILENCE);
        const { done, value } = await reader.read();
        if (done) return;
        this.wait = FIRST_WAIT;
        const parsed = parseChunk(rest + value, this.lastId);
        rest = parsed.rest;
        this.lastId = parsed.lastId;
        this.set("live", Date.now());
        const changes = parsed.messages.map((message) => JSON.parse(message.data) as Changed);
        if (changes.length > 0) this.tell({ kind: "changes", changes });
      }
    } finally {
      clearTimeout(timer);
      cut.abort();
    }
  }
}
