// What the pages look at, each with the tags that make it old.
import { type Live, useLive } from "../live/resources";
import { clusterTag, hostTag, INFRA_ENVS, infraEnvTag } from "../live/tags";
import { query, V1, V2 } from "./http";
import type { Finding, HostPage, Problem } from "./own";
import type { Cluster, Host, InfraEnv, ListedEvent } from "./types";

export const useCluster = (id: string): Live<Cluster> =>
  useLive(`${V2}/clusters/${id}?exclude-hosts=true`, [clusterTag(id)]);

export const useProblems = (id: string): Live<readonly Problem[]> =>
  useLive(`${V1}/clusters/${id}/problems`, [clusterTag(id)]);

export const useHost = (infraEnvId: string, id: string): Live<Host> =>
  useLive(infraEnvId ? `${V2}/infra-envs/${infraEnvId}/hosts/${id}` : null, [hostTag(id)]);

export const useHostFindings = (infraEnvId: string, id: string): Live<readonly Finding[]> =>
  useLive(infraEnvId ? `${V1}/infra-envs/${infraEnvId}/hosts/${id}/findings` : null, [hostTag(id)]);

export const useInfraEnvs = (): Live<readonly InfraEnv[]> => useLive(`${V2}/infra-envs`, [INFRA_ENVS]);

export const useInfraEnv = (id: string): Live<InfraEnv> =>
  useLive(id ? `${V2}/infra-envs/${id}` : null, [infraEnvTag(id)]);

export const useInfraEnvsOf = (clusterId: string): Live<readonly InfraEnv[]> =>
  useLive(`${V2}/infra-envs?cluster_id=${clusterId}`, [INFRA_ENVS, clusterTag(clusterId)]);

export interface HostsPlace {
  /** Path of the table: a cluster's or an infra-env's hosts. */
  readonly path: string;
  readonly tags: readonly string[];
}

export const hostsOfCluster = (id: string): HostsPlace => ({
  path: `${V1}/clusters/${id}/hosts`,
  tags: [clusterTag(id)],
});
export const hostsOfInfraEnv = (id: string): HostsPlace => ({
  path: `${V1}/infra-envs/${id}/hosts`,
  tags: [infraEnvTag(id)],
});

export const useHosts = (place: HostsPlace, asked: Readonly<Record<string, string | number>>): Live<HostPage> =>
  useLive(`${place.path}${query(asked)}`, place.tags);

export const useEvents = (
  tags: readonly string[],
  asked: Readonly<Record<string, string | number>>,
): Live<readonly ListedEvent[]> => useLive(`${V2}/events${query({ order: "descending", ...asked })}`, tags);
