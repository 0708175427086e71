// Which of the things on the screen a change is about. A tag names a thing; resources carry the tags they depend on.

export const CLUSTERS = "clusters";
export const INFRA_ENVS = "infra-envs";

export const clusterTag = (id: string): string => `cluster:${id}`;
export const hostTag = (id: string): string => `host:${id}`;
export const infraEnvTag = (id: string): string => `infra-env:${id}`;

/** A change of one cluster is a change of their list, too. */
export function tagsOf(subjects: readonly string[]): readonly string[] {
  return subjects.flatMap((subject) => {
    if (subject.startsWith("cluster:")) return [subject, CLUSTERS];
    if (subject.startsWith("infra-env:")) return [subject, INFRA_ENVS];
    return [subject];
  });
}
