// What the pictures show: the map of a cluster's network, and the course of its installation.
import { type Live, useLive } from "../live/resources";
import { clusterTag } from "../live/tags";
import { V1 } from "./http";

export interface MappedHost {
  readonly id: string;
  readonly infra_env_id: string;
  readonly name: string;
  readonly role: string;
  readonly status: string;
  readonly networks: readonly string[];
  readonly reported_at: string | null;
}

export type Fault = "unreached" | "partial" | "mtu" | "lossy" | "slow";

export interface BrokenPath {
  readonly source: string;
  readonly target: string;
  readonly fault: Fault;
  readonly over: readonly string[];
  readonly measured: string;
}

export type TakenKind = "host" | "api" | "ingress" | "gateway";

export interface TakenAddress {
  readonly address: string;
  readonly offset: number | null;
  readonly kind: TakenKind;
  readonly name: string;
  readonly host_id: string | null;
}

export interface MappedNetwork {
  readonly cidr: string;
  readonly machine: boolean;
  readonly size: number | null;
  readonly scanned: boolean;
  readonly free: readonly (readonly [number, number])[];
  readonly taken: readonly TakenAddress[];
}

export interface NetworkMap {
  readonly total: number;
  readonly hosts: readonly MappedHost[];
  readonly broken: readonly BrokenPath[];
  readonly networks: readonly MappedNetwork[];
}

export interface Span {
  readonly stage: string;
  readonly began: string;
  readonly ended: string | null;
  readonly failed: boolean;
}

export interface Lane {
  readonly id: string;
  readonly infra_env_id: string;
  readonly name: string;
  readonly role: string;
  readonly bootstrap: boolean;
  readonly status: string;
  readonly late: boolean;
  readonly spans: readonly Span[];
}

export interface Timeline {
  readonly total: number;
  readonly began: string | null;
  readonly ended: string | null;
  readonly now: string;
  readonly finalizing: readonly Span[];
  readonly lanes: readonly Lane[];
}

export const useNetworkMap = (clusterId: string): Live<NetworkMap> =>
  useLive(`${V1}/clusters/${clusterId}/connectivity`, [clusterTag(clusterId)]);

export const useTimeline = (clusterId: string): Live<Timeline> =>
  useLive(`${V1}/clusters/${clusterId}/timeline`, [clusterTag(clusterId)]);
