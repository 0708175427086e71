// Which page the address names. Links are ordinary links; only a plain click stays inside the page.
import { type SyntheticEvent, useSyncExternalStore } from "react";

export type Route =
  | { readonly page: "clusters" }
  | { readonly page: "new-cluster" }
  | { readonly page: "cluster"; readonly id: string; readonly tab: string; readonly host: string }
  | { readonly page: "wizard"; readonly id: string; readonly step: string }
  | { readonly page: "infra-envs" }
  | { readonly page: "infra-env"; readonly id: string; readonly host: string }
  | { readonly page: "settings" }
  | { readonly page: "unknown" };

export function routeOf(path: string, search = ""): Route {
  const [first = "", second = "", third = "", fourth = ""] = path.split("/").filter(Boolean).map(decoded);
  const host = new URLSearchParams(search).get("host") ?? "";
  if (first === "" || (first === "clusters" && second === "")) return { page: "clusters" };
  if (first === "clusters" && second === "new") return { page: "new-cluster" };
  if (first === "clusters" && third === "setup") return { page: "wizard", id: second, step: fourth };
  if (first === "clusters" && fourth === "") return { page: "cluster", id: second, tab: third || "overview", host };
  if (first === "infra-envs" && second === "") return { page: "infra-envs" };
  if (first === "infra-envs" && third === "") return { page: "infra-env", id: second, host };
  if (first === "settings" && second === "") return { page: "settings" };
  return { page: "unknown" };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const paths = {
  clusters: "/clusters",
  newCluster: "/clusters/new",
  cluster: (id: string, tab = ""): string => `/clusters/${id}${tab ? `/${tab}` : ""}`,
  wizard: (id: string, step = ""): string => `/clusters/${id}/setup${step ? `/${step}` : ""}`,
  infraEnvs: "/infra-envs",
  infraEnv: (id: string): string => `/infra-envs/${id}`,
  settings: "/settings",
};

const CHANGED = "firstlight:address";

export function go(path: string, { replace = false } = {}): void {
  if (path === window.location.pathname + window.location.search) return;
  if (replace) window.history.replaceState(null, "", path);
  else window.history.pushState(null, "", path);
  window.dispatchEvent(new Event(CHANGED));
  if (!replace) window.scrollTo(0, 0);
}

/** Puts a value of the query into the address, or takes it out when it is empty. */
export function goWith(name: string, value: string): void {
  const search = new URLSearchParams(window.location.search);
  if (value) search.set(name, value);
  else search.delete(name);
  const text = search.toString();
  go(window.location.pathname + (text ? `?${text}` : ""), { replace: true });
}

function subscribe(changed: () => void): () => void {
  window.addEventListener("popstate", changed);
  window.addEventListener(CHANGED, changed);
  return () => {
    window.removeEventListener("popstate", changed);
    window.removeEventListener(CHANGED, changed);
  };
}

export const useAddress = (): string =>
  useSyncExternalStore(subscribe, () => window.location.pathname + window.location.search);

/** For the `onClick` of a link: follows it inside the page unless the user wants a new tab or window. */
export function follow(event: SyntheticEvent<HTMLElement>): void {
  const link = event.currentTarget.closest("a") ?? (event.target as HTMLElement).closest("a");
  const click = event.nativeEvent;
  if (!link || !(click instanceof MouseEvent) || click.button !== 0) return;
  if (click.metaKey || click.ctrlKey || click.shiftKey || click.altKey) return;
  event.preventDefault();
  go(link.pathname + link.search);
}
