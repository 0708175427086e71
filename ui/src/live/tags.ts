// Which of the things on the screen an event is about. A tag names a thing; resources carry the tags they depend on.
import type { StreamedEvent } from "../api/own";

export const CLUSTERS = "clusters";
export const INFRA_ENVS = "infra-envs";

export const clusterTag = (id: string): string => `cluster:${id}`;
export const hostTag = (id: string): string => `host:${id}`;
export const infraEnvTag = (id: string): string => `infra-env:${id}`;

export function tagsOf(event: Pick<StreamedEvent, "cluster_id" | "host_id" | "infra_env_id">): readonly string[] {
  const tags: string[] = [];
  if (event.cluster_id) tags.push(CLUSTERS, clusterTag(event.cluster_id));
  if (event.infra_env_id) tags.push(INFRA_ENVS, infraEnvTag(event.infra_env_id));
  if (event.host_id) tags.push(hostTag(event.host_id));
  return tags;
}
