// What the service keeps, how much room that takes, and when it goes.
import { Card, CardBody, CardTitle } from "@patternfly/react-core";
import { V1 } from "../../api/http";
import type { About } from "../../api/own";
import { useLive } from "../../live/resources";
import { counted, storage } from "../../numbers";
import { Facts } from "../../parts/Facts";

interface StorageUsed {
  readonly database_bytes: number;
  readonly files: number;
  readonly files_bytes: number;
  readonly inactive_clusters_deleted_after_hours: number;
  readonly deleted_purged_after_hours: number;
}

/** Whole days as days. */
const time = (hours: number): string => (hours % 24 === 0 && hours > 0 ? counted(hours / 24, "day") : counted(hours, "hour"));

const NO_TAGS: readonly string[] = [];

export function StorageCard({ about }: { readonly about: About }) {
  const used = useLive<StorageUsed>(`${V1}/storage`, NO_TAGS).data;
  return (
    <Card isCompact id="storage">
      <CardTitle component="h2">Storage</CardTitle>
      <CardBody>
        <Facts
          facts={[
            ["Database", `${about.storage["database"] ?? ""}${used ? `, ${storage(used.database_bytes)}` : ""}`],
            ["Files", `${about.storage["files"] ?? ""}${used ? `, ${counted(used.files, "file")}, ${storage(used.files_bytes)}` : ""}`],
            ["Clusters", about.counts.clusters.toLocaleString()],
            ["Environments", about.counts.infra_envs.toLocaleString()],
            ["Hosts", about.counts.hosts.toLocaleString()],
            ["Events", about.last_event.toLocaleString()],
            ["Unused clusters are deleted", used && `after ${time(used.inactive_clusters_deleted_after_hours)}`],
            ["Deleted things go for good", used && `after ${time(used.deleted_purged_after_hours)}`],
          ]}
        />
      </CardBody>
    </Card>
  );
}
