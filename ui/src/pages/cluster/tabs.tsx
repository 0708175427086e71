// The tabs of a cluster's page. A new tab is one line here and one file of its own.
import { type ComponentType, lazy } from "react";
import type { Cluster } from "../../api/types";

export interface TabProps {
  readonly cluster: Cluster;
  /** The host whose drawer is open, if any. */
  readonly host: string;
}

export interface ClusterTab {
  readonly key: string;
  readonly title: string;
  readonly Body: ComponentType<TabProps>;
}

export const TABS: readonly ClusterTab[] = [
  { key: "overview", title: "Overview", Body: lazy(() => import("./OverviewTab")) },
  { key: "hosts", title: "Hosts", Body: lazy(() => import("./HostsTab")) },
  { key: "problems", title: "Problems", Body: lazy(() => import("./ProblemsTab")) },
  { key: "network", title: "Network", Body: lazy(() => import("./NetworkTab")) },
  { key: "timeline", title: "Timeline", Body: lazy(() => import("./TimelineTab")) },
  { key: "events", title: "Events", Body: lazy(() => import("./EventsTab")) },
  { key: "files", title: "Files and logs", Body: lazy(() => import("./FilesTab")) },
  { key: "danger", title: "Danger zone", Body: lazy(() => import("./DangerTab")) },
];
