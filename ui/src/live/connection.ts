// The one line to the service: follows what changes, comes back by itself where it was cut, and says how it is.
import { V1 } from "../api/http";
import type { Changed } from "../api/own";
import { askForLogin } from "./session";
import { parseChunk } from "./sse";

export type LineState = "connecting" | "live" | "lost";

export interface Line {
  readonly state: LineState;
  /** When the last sign of life came, in milliseconds since 1970. */
  readonly heardAt: number;
}

type Hear = (changes: readonly Changed[]) => void;

const FIRST_WAIT = 500;
const LONGEST_WAIT = 10_000;
/** The service speaks at least every 15 seconds. */
const SILENCE = 40_000;

class Connection {
  private line: Line = { state: "connecting", heardAt: 0 };
  private readonly watchers = new Set<() => void>();
  private readonly hearers = new Set<Hear>();
  private readonly returned = new Set<() => void>();
  private lastId = "";
  private wait = FIRST_WAIT;
  private wake: () => void = () => undefined;
  private cut = new AbortController();
  private started = false;

  start(): void {
    if (this.started) return;
    this.started = true;
    window.addEventListener("online", () => this.wake());
    // A browser without a network may keep a dead line open for minutes.
    window.addEventListener("offline", () => this.cut.abort());
    document.addEventListener("visibilitychange", () => document.hidden || this.wake());
    void this.run();
  }

  /** Comes back at once, as somebody else perhaps: after logging in, and after logging out. */
  restart(): void {
    this.lastId = "";
    this.wait = FIRST_WAIT;
    this.cut.abort();
    this.wake();
  }

  readonly current = (): Line => this.line;

  readonly watch = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  /** Called with the changes of each chunk, together. */
  onChanges(hear: Hear): void {
    this.hearers.add(hear);
  }

  /** Called when a line is there without knowing what was missed before it: everything on the screen may be old. */
  onFreshStart(again: () => void): void {
    this.returned.add(again);
  }

  private tell(state: LineState, heardAt = this.line.heardAt): void {
    this.line = { state, heardAt };
    for (const watcher of this.watchers) watcher();
  }

  private async run(): Promise<never> {
    for (;;) {
      try {
        await this.follow();
      } catch {
        // Whatever cut the line, the answer is to come back.
      }
      this.tell("lost");
      await new Promise<void>((resolve) => {
        this.wake = resolve;
        window.setTimeout(resolve, this.wait);
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
      if (answer.status === 401) askForLogin();
      throw new Error(String(answer.status));
    }
    if (!this.lastId) for (const again of this.returned) again();
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    let timer = 0;
    try {
      for (;;) {
        window.clearTimeout(timer);
        timer = window.setTimeout(() => cut.abort(), SILENCE);
        const { done, value } = await reader.read();
        if (done) return;
        this.wait = FIRST_WAIT;
        const parsed = parseChunk(rest + value, this.lastId);
        rest = parsed.rest;
        this.lastId = parsed.lastId;
        this.tell("live", Date.now());
        const changes = parsed.messages.map((message) => JSON.parse(message.data) as Changed);
        if (changes.length > 0) for (const hear of this.hearers) hear(changes);
      }
    } finally {
      window.clearTimeout(timer);
      cut.abort();
    }
  }
}

export const connection = new Connection();
