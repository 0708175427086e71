// Something that grows, asked for again and again, each time waiting for what comes next. It rests while nobody looks at
// the page: a browser has few connections to one host, and each of these keeps one.
import { sentence } from "../api/http";

const AFTER_FAILURE = 3_000;

interface Steps {
  /** Asks for the next; answers when there is something or when it has waited long enough. */
  readonly next: (signal: AbortSignal) => Promise<void>;
  /** What went wrong, or an empty text when it goes well again. */
  readonly trouble: (reason: string) => void;
}

/** Until the answer is called. */
export function keepAsking({ next, trouble }: Steps): () => void {
  let over = false;
  let current = new AbortController();
  let wake: () => void = () => undefined;
  const seen = (): void => {
    if (document.hidden) current.abort();
    else wake();
  };
  const pause = (milliseconds: number): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve;
      if (milliseconds > 0) setTimeout(resolve, milliseconds);
    });
  const run = async (): Promise<void> => {
    while (!over) {
      if (document.hidden) {
        await pause(0);
        continue;
      }
      current = new AbortController();
      try {
        await next(current.signal);
        trouble("");
      } catch (failure) {
        if (current.signal.aborted) continue;
        trouble(sentence(failure));
        await pause(AFTER_FAILURE);
      }
    }
  };
  document.addEventListener("visibilitychange", seen);
  void run();
  return () => {
    over = true;
    document.removeEventListener("visibilitychange", seen);
    current.abort();
    wake();
  };
}
