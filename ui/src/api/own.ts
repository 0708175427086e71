// The documents of our own API (/api/firstlight/v1): small rows for tables, findings in full, the stream of events.
import type { Method } from "./http";

export interface SetupWarning {
  readonly code: string;
  readonly message: string;
  readonly setting: string;
}

export interface About {
  readonly version: string;
  readonly release_tag: string;
  readonly auth_type: string;
  readonly service_url: string;
  readonly image_service_url: string;
  readonly storage: Readonly<Record<string, string>>;
  readonly counts: { readonly clusters: number; readonly infra_envs: number; readonly hosts: number };
  readonly last_event: number;
  readonly warnings: readonly SetupWarning[];
}

export interface ClusterRow {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly status: string;
  readonly status_info: string;
  readonly base_domain: string;
  readonly version: string;
  readonly architecture: string;
  readonly control_planes: number;
  readonly created_at: string;
  readonly percent: number;
  readonly hosts: number;
  readonly ready: number;
}

export interface HostRow {
  readonly id: string;
  readonly infra_env_id: string;
  readonly cluster_id: string | null;
  readonly name: string;
  readonly role: string;
  readonly effective_role: string;
  readonly bootstrap: boolean;
  readonly day_two: boolean;
  readonly status: string;
  readonly status_info: string;
  readonly stage: string;
  readonly stage_info: string;
  readonly percent: number;
  readonly stage_number: number;
  readonly stage_count: number;
  readonly stage_late: boolean;
  readonly registered_at: string;
  readonly checked_in_at: string | null;
  readonly cpus: number;
  readonly memory_bytes: number;
  readonly disk_bytes: number;
  readonly disks: number;
  readonly install_disk: string;
  readonly addresses: readonly string[];
  readonly vendor: string;
  readonly serial: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly failing: number;
  readonly pending: number;
}

export interface HostPage {
  readonly total: number;
  readonly matching: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly roles: Readonly<Record<string, number>>;
  readonly hosts: readonly HostRow[];
}

export interface Fix {
  readonly title: string;
  readonly method: Method;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>> | null;
}

export type FindingStatus = "success" | "failure" | "pending" | "error" | "disabled";
export type Evidence = Readonly<Record<string, string | number | boolean | readonly string[] | null>>;

/** In seconds, from the answer on. */
export interface NextCheck {
  readonly after: number;
  readonly every: number;
}

export interface Finding {
  readonly id: string;
  readonly category: string;
  readonly status: FindingStatus;
  readonly message: string;
  readonly cause: string;
  readonly evidence: Evidence;
  readonly measured_at: string | null;
  readonly next_check: NextCheck | null;
  readonly fixes: readonly Fix[];
}

export interface Problem {
  readonly check: string;
  readonly scope: "cluster" | "host";
  readonly category: string;
  readonly status: FindingStatus;
  readonly cause: string;
  readonly blocking: boolean;
  readonly waived: boolean;
  readonly waiver_reason: string;
  readonly waivable: boolean;
  readonly count: number;
  readonly cases: readonly ProblemCase[];
}

export interface ProblemCase {
  readonly host_id: string | null;
  readonly infra_env_id: string | null;
  readonly host_name: string;
  readonly message: string;
  readonly evidence: Evidence;
  readonly measured_at: string | null;
  readonly next_check: NextCheck | null;
  readonly fixes: readonly Fix[];
}

export interface LastingOperation {
  readonly id: string;
  readonly kind: string;
  readonly attempt: number;
  readonly state: string;
  readonly progress: string;
}

/** One message of the stream: which things are different now. */
export interface Changed {
  /** `cluster:<id>`, `infra-env:<id>`, `host:<id>`. */
  readonly subjects: readonly string[];
  /** Something may have been missed: anything may have changed. */
  readonly everything: boolean;
}

export interface HostChange {
  readonly hosts: readonly { readonly infra_env_id: string; readonly id: string }[];
  readonly name_template?: string;
  readonly first_number?: number;
  readonly role?: string;
  readonly labels?: Readonly<Record<string, string | null>>;
  readonly dry_run?: boolean;
}

export interface HostChangeResult {
  readonly changed: number;
  readonly results: readonly {
    readonly id: string;
    readonly infra_env_id: string;
    readonly name: string;
    readonly error: string;
  }[];
}
