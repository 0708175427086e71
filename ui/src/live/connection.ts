// The line to the service as the page knows it: shared with the other pages of the browser where that is possible.
import type { Changed } from "../api/own";
import { Follower, type Line, type Told, type Wish } from "./follower";
import worker from "./line.worker?sharedworker&url";
import { askForLogin } from "./session";

type Hear = (changes: readonly Changed[]) => void;

interface Policies {
  createPolicy(name: string, rules: { createScriptURL: (url: string) => string }): { createScriptURL: (url: string) => string };
}

class Connection {
  private line: Line = { state: "connecting", heardAt: 0 };
  private readonly watchers = new Set<() => void>();
  private readonly hearers = new Set<Hear>();
  private readonly returned = new Set<() => void>();
  private ask: (wish: Wish) => void = () => undefined;
  private started = false;

  start(): void {
    if (this.started) return;
    this.started = true;
    this.ask = this.shared() ?? this.own();
    window.addEventListener("online", () => this.ask("wake"));
    // A browser without a network may keep a dead line open for minutes.
    window.addEventListener("offline", () => this.ask("cut"));
    document.addEventListener("visibilitychange", () => document.hidden || this.ask("wake"));
  }

  /** Comes back at once, as somebody else perhaps: after logging in, and after logging out. */
  restart(): void {
    this.ask("restart");
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

  /** Called when everything on the screen may be old. */
  onFreshStart(again: () => void): void {
    this.returned.add(again);
  }

  private readonly hear = (told: Told): void => {
    if (told.kind === "line") {
      this.line = told.line;
      for (const watcher of this.watchers) watcher();
    } else if (told.kind === "changes") for (const hear of this.hearers) hear(told.changes);
    else if (told.kind === "fresh") for (const again of this.returned) again();
    else askForLogin();
  };

  private own(): (wish: Wish) => void {
    const follower = new Follower(this.hear);
    return (wish) => follower.do(wish);
  }

  private shared(): ((wish: Wish) => void) | null {
    if (typeof SharedWorker === "undefined") return null;
    let port: MessagePort;
    try {
      port = new SharedWorker(trusted(worker), { name: "firstlight" }).port;
    } catch {
      return null;
    }
    port.onmessage = ({ data }: MessageEvent<Told>) => this.hear(data);
    window.addEventListener("pagehide", () => port.postMessage("leave"));
    window.addEventListener("pageshow", ({ persisted }) => {
      if (!persisted) return;
      port.postMessage("join");
      this.hear({ kind: "fresh" });
    });
    return (wish) => port.postMessage(wish);
  }
}

/** The page's policy lets no text name a script, except through this: and it knows one name. */
function trusted(url: string): string {
  const policies = (window as { trustedTypes?: Policies }).trustedTypes;
  if (!policies) return url;
  const only = { createScriptURL: (asked: string) => (asked === worker ? asked : "") };
  return policies.createPolicy("firstlight-line", only).createScriptURL(url);
}

export const connection = new Connection();
