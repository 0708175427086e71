// Light, dark, or whatever the system prefers; remembered in this browser.
import { useSyncExternalStore } from "react";

export type Choice = "system" | "light" | "dark";

const KEY = "firstlight.theme";
const DARK_CLASS = "pf-v6-theme-dark";
const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
const watchers = new Set<() => void>();

function stored(): Choice {
  try {
    const known = window.localStorage.getItem(KEY);
    return known === "light" || known === "dark" ? known : "system";
  } catch {
    return "system";
  }
}

let choice: Choice = stored();

const isDark = (): boolean => (choice === "system" ? prefersDark.matches : choice === "dark");

function apply(): void {
  document.documentElement.classList.toggle(DARK_CLASS, isDark());
  document.documentElement.style.colorScheme = isDark() ? "dark" : "light";
  for (const watcher of watchers) watcher();
}

export function choose(next: Choice): void {
  choice = next;
  try {
    if (next === "system") window.localStorage.removeItem(KEY);
    else window.localStorage.setItem(KEY, next);
  } catch {
    // A browser that keeps nothing still shows the theme until it is closed.
  }
  apply();
}

export function startTheme(): void {
  prefersDark.addEventListener("change", apply);
  apply();
}

export const useTheme = (): Choice =>
  useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => choice,
  );
