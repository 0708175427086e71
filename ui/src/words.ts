// The words people read for the words of the wire. The states keep the names support texts use.

export type Tone = "success" | "info" | "warning" | "danger" | "progress" | "neutral";

export interface Word {
  readonly text: string;
  readonly tone: Tone;
}

const CLUSTER_STATUS: Readonly<Record<string, Word>> = {
  insufficient: { text: "Draft", tone: "neutral" },
  "pending-for-input": { text: "Draft", tone: "neutral" },
  ready: { text: "Ready to install", tone: "info" },
  "preparing-for-installation": { text: "Preparing for installation", tone: "progress" },
  installing: { text: "Installing", tone: "progress" },
  "installing-pending-user-action": { text: "Waiting for you", tone: "warning" },
  finalizing: { text: "Finalizing", tone: "progress" },
  installed: { text: "Installed", tone: "success" },
  "adding-hosts": { text: "Adding hosts", tone: "info" },
  error: { text: "Error", tone: "danger" },
  cancelled: { text: "Cancelled", tone: "neutral" },
  unmonitored: { text: "Not monitored", tone: "neutral" },
};

const HOST_STATUS: Readonly<Record<string, Word>> = {
  discovering: { text: "Discovering", tone: "progress" },
  known: { text: "Ready", tone: "success" },
  disconnected: { text: "Disconnected", tone: "danger" },
  insufficient: { text: "Insufficient", tone: "warning" },
  "pending-for-input": { text: "Pending input", tone: "info" },
  disabled: { text: "Disabled", tone: "neutral" },
  "preparing-for-installation": { text: "Preparing for installation", tone: "progress" },
  "preparing-failed": { text: "Preparing step failed", tone: "danger" },
  "preparing-successful": { text: "Preparing step successful", tone: "progress" },
  installing: { text: "Starting installation", tone: "progress" },
  "installing-in-progress": { text: "Installing", tone: "progress" },
  "installing-pending-user-action": { text: "Waiting for you", tone: "warning" },
  installed: { text: "Installed", tone: "success" },
  "added-to-existing-cluster": { text: "Installed", tone: "success" },
  error: { text: "Error", tone: "danger" },
  cancelled: { text: "Installation cancelled", tone: "neutral" },
  resetting: { text: "Resetting", tone: "progress" },
  "resetting-pending-user-action": { text: "Reboot required", tone: "warning" },
  binding: { text: "Binding", tone: "progress" },
  unbinding: { text: "Removing from cluster", tone: "progress" },
  "unbinding-pending-user-action": { text: "Reboot required", tone: "warning" },
  reclaiming: { text: "Returning to the infrastructure environment", tone: "progress" },
  "reclaiming-rebooting": { text: "Returning (rebooting)", tone: "progress" },
  "discovering-unbound": { text: "Discovering", tone: "progress" },
  "known-unbound": { text: "Available", tone: "success" },
  "insufficient-unbound": { text: "Insufficient", tone: "warning" },
  "disconnected-unbound": { text: "Disconnected", tone: "danger" },
  "disabled-unbound": { text: "Disabled", tone: "neutral" },
};

const ROLE: Readonly<Record<string, string>> = {
  "auto-assign": "Auto-assign",
  master: "Control plane",
  worker: "Worker",
  arbiter: "Arbiter",
  bootstrap: "Control plane",
};

const CATEGORY: Readonly<Record<string, string>> = {
  hardware: "Hardware",
  network: "Network",
  operators: "Operators",
  configuration: "Configuration",
  "hosts-data": "Hosts",
  installation: "Installation",
};

/** A word of the wire as a person would write it: `has-min-memory` → `Has min memory`. */
export function spoken(word: string): string {
  const text = word.replaceAll(/[-_]+/g, " ").trim();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const ACRONYMS: ReadonlyMap<string, string> = new Map(
  ["API", "CIDR", "CPU", "DHCP", "DNS", "GPU", "ID", "IP", "ISO", "MAC", "MTU", "NIC", "NTP", "RAM", "TPM", "VIP", "VIPs"]
    .map((word) => [word.toLowerCase(), word] as const),
);

/** The name of a check or of a measured value, with the letters people expect. */
export function named(word: string): string {
  const said = spoken(word).split(" ");
  return said.map((part) => ACRONYMS.get(part.toLowerCase()) ?? part).join(" ");
}

const unknown = (status: string): Word => ({ text: spoken(status) || "Unknown", tone: "neutral" });

export const clusterStatus = (status: string): Word => CLUSTER_STATUS[status] ?? unknown(status);
export const hostStatus = (status: string): Word => HOST_STATUS[status] ?? unknown(status);
export const roleName = (role: string): string => ROLE[role] ?? spoken(role);
export const categoryName = (category: string): string => CATEGORY[category] ?? spoken(category);

export const INSTALLING = new Set([
  "preparing-for-installation",
  "installing",
  "installing-pending-user-action",
  "finalizing",
]);
export const DRAFT = new Set(["insufficient", "pending-for-input", "ready"]);
export const EDITABLE_HOST = new Set([
  "discovering",
  "known",
  "disconnected",
  "insufficient",
  "pending-for-input",
  "binding",
  "discovering-unbound",
  "known-unbound",
  "insufficient-unbound",
  "disconnected-unbound",
]);
