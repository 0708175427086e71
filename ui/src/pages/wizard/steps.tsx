// The steps of a cluster's setup. A new step is one line here and one file of its own.
import { type ComponentType, lazy } from "react";
import type { Problem } from "../../api/own";
import type { Cluster, InfraEnv } from "../../api/types";

export interface StepProps {
  readonly cluster: Cluster;
  /** Undefined as long as it is not known, null where there is none. */
  readonly infraEnv: InfraEnv | null | undefined;
  readonly host: string;
}

export interface SetupStep {
  readonly key: string;
  readonly name: string;
  readonly Body: ComponentType<StepProps>;
  /** Whether this step is the place to solve a problem. */
  readonly owns: (problem: Problem) => boolean;
}

const ABOUT_DETAILS = new Set(["pull-secret-set", "dns-domain-defined"]);
const ABOUT_STORAGE = new Set([
  "has-min-valid-disks",
  "sufficient-installation-disk-speed",
  "no-skip-installation-disk",
  "no-skip-missing-disk",
  "disk-encryption-requirements-satisfied",
]);
const ABOUT_MANIFESTS = new Set(["custom-manifests-requirements-satisfied"]);
const never = (): boolean => false;

export const STEPS: readonly SetupStep[] = [
  {
    key: "details",
    name: "Details",
    Body: lazy(() => import("./DetailsStep")),
    owns: ({ check }) => ABOUT_DETAILS.has(check),
  },
  {
    key: "operators",
    name: "Operators",
    Body: lazy(() => import("./OperatorsStep")),
    owns: ({ category }) => category === "operators",
  },
  { key: "media", name: "Boot media", Body: lazy(() => import("./MediaStep")), owns: never },
  {
    key: "hosts",
    name: "Hosts",
    Body: lazy(() => import("./HostsStep")),
    owns: ({ category, check, scope }) =>
      !ABOUT_STORAGE.has(check) && (category === "hosts-data" || (scope === "host" && category === "hardware")),
  },
  {
    key: "storage",
    name: "Storage",
    Body: lazy(() => import("./StorageStep")),
    owns: ({ check }) => ABOUT_STORAGE.has(check),
  },
  {
    key: "networking",
    name: "Networking",
    Body: lazy(() => import("./NetworkingStep")),
    owns: ({ category, check }) => category === "network" && !ABOUT_DETAILS.has(check) && !ABOUT_MANIFESTS.has(check),
  },
  {
    key: "manifests",
    name: "Custom manifests",
    Body: lazy(() => import("./ManifestsStep")),
    owns: ({ check }) => ABOUT_MANIFESTS.has(check),
  },
  { key: "review", name: "Review and install", Body: lazy(() => import("./ReviewStep")), owns: never },
];

/** Where to go on: the first step with something to solve, but never before the first hosts were booted. */
export function firstOpenStep(problems: readonly Problem[] | undefined, hosts: number): string {
  if (hosts === 0) return "media";
  const open = problems?.filter(({ blocking, waived, status }) => blocking && !waived && status !== "pending") ?? [];
  return STEPS.find(({ owns }) => open.some(owns))?.key ?? "review";
}
