// What the service was asked, kept by address: shared by everybody on the page who shows it, and asked again when the
// service says that something it depends on changed. Nothing is asked because time passed.
import { useCallback, useEffect, useSyncExternalStore } from "react";
import { call, sentence } from "../api/http";
import { connection } from "./connection";
import { tagsOf } from "./tags";

export interface Live<T> {
  readonly data: T | undefined;
  readonly error: string;
  readonly loading: boolean;
  readonly refresh: () => void;
}

interface Shown {
  readonly data: unknown;
  readonly error: string;
  readonly loading: boolean;
}

interface Resource {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly tags: Set<string>;
  readonly watchers: Set<() => void>;
  shown: Shown;
  stale: boolean;
  running: boolean;
  cost: number;
  timer: number;
  leftAt: number;
}

/** Events of this many milliseconds are answered with one request. */
const BATCH = 120;
/** A resource that takes long to fetch is asked for at most a third of the time. */
const REST = 2;
const KEPT = 60_000;
const NOTHING: Shown = { data: undefined, error: "", loading: false };
const NO_HEADERS = {};

const resources = new Map<string, Resource>();

export function markStale(tags: Iterable<string>): void {
  const wanted = new Set(tags);
  for (const resource of resources.values()) {
    if ([...resource.tags].some((tag) => wanted.has(tag))) spoil(resource);
  }
}

export function markAllStale(): void {
  for (const resource of resources.values()) spoil(resource);
}

/** Nothing that was shown to one person stays for the next. */
export function forgetAll(): void {
  for (const resource of resources.values()) {
    resource.stale = true;
    show(resource, { ...NOTHING, loading: true });
  }
}

connection.onChanges((changes) => {
  if (changes.some(({ everything }) => everything)) markAllStale();
  else markStale(changes.flatMap(({ subjects }) => tagsOf(subjects)));
});
connection.onFreshStart(markAllStale);

function spoil(resource: Resource): void {
  resource.stale = true;
  if (resource.watchers.size > 0) schedule(resource, Math.max(BATCH, resource.cost * REST));
}

function schedule(resource: Resource, wait: number): void {
  if (resource.running || resource.timer) return;
  resource.timer = window.setTimeout(() => {
    resource.timer = 0;
    void load(resource);
  }, wait);
}

async function load(resource: Resource): Promise<void> {
  if (resource.running) return;
  resource.running = true;
  resource.stale = false;
  const began = performance.now();
  if (resource.shown.data === undefined) show(resource, { ...resource.shown, loading: true });
  try {
    const data = await call<unknown>("GET", resource.path, { headers: resource.headers });
    show(resource, { data, error: "", loading: false });
  } catch (failure) {
    show(resource, { data: resource.shown.data, error: sentence(failure), loading: false });
  }
  resource.cost = performance.now() - began;
  resource.running = false;
  if (resource.stale && resource.watchers.size > 0) schedule(resource, Math.max(BATCH, resource.cost * REST));
}

function show(resource: Resource, shown: Shown): void {
  resource.shown = shown;
  for (const watcher of resource.watchers) watcher();
}

function resourceAt(path: string, headers: Readonly<Record<string, string>>, tags: readonly string[]): Resource {
  const known = resources.get(path);
  if (known) {
    for (const tag of tags) known.tags.add(tag);
    return known;
  }
  const fresh: Resource = {
    path,
    headers,
    tags: new Set(tags),
    watchers: new Set(),
    shown: { ...NOTHING, loading: true },
    stale: true,
    running: false,
    cost: 0,
    timer: 0,
    leftAt: 0,
  };
  resources.set(path, fresh);
  return fresh;
}

function forgetOld(): void {
  const now = Date.now();
  for (const [path, resource] of resources) {
    if (resource.watchers.size === 0 && now - resource.leftAt > KEPT) resources.delete(path);
  }
}

/** The document at `path`, kept up to date. `null` asks for nothing. */
export function useLive<T>(
  path: string | null,
  tags: readonly string[],
  headers: Readonly<Record<string, string>> = NO_HEADERS,
): Live<T> {
  const tagKey = tags.join(" ");
  const subscribe = useCallback(
    (watcher: () => void) => {
      if (path === null) return () => undefined;
      forgetOld();
      const resource = resourceAt(path, headers, tagKey.split(" "));
      resource.watchers.add(watcher);
      if (resource.stale) void load(resource);
      return () => {
        resource.watchers.delete(watcher);
        resource.leftAt = Date.now();
      };
    },
    [path, tagKey, headers],
  );
  const shown = useSyncExternalStore(subscribe, () =>
    path === null ? NOTHING : (resources.get(path)?.shown ?? PENDING),
  );
  const refresh = useCallback(() => {
    const resource = path === null ? undefined : resources.get(path);
    if (resource) void load(resource);
  }, [path]);
  return { ...shown, data: shown.data as T | undefined, refresh };
}

const PENDING: Shown = { data: undefined, error: "", loading: true };

/** Keeps showing the last answer while a new address (another filter, another page) is being asked. */
export function useLatest<T>(live: Live<T>, keep: { current: T | undefined }): T | undefined {
  useEffect(() => {
    if (live.data !== undefined) keep.current = live.data;
  }, [live.data, keep]);
  return live.data ?? keep.current;
}
