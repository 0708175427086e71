// One cluster in every phase of its life: what it is, how far it is, its hosts, what is wrong, what happened.
import {
  Breadcrumb,
  BreadcrumbItem,
  Drawer,
  DrawerContent,
  DrawerContentBody,
  PageSection,
  Tab,
  Tabs,
  TabTitleText,
  Title,
} from "@patternfly/react-core";
import { type ReactNode, Suspense, useEffect } from "react";
import { hostsOfCluster, useCluster, useHosts, useProblems } from "../../api/reads";
import type { Cluster } from "../../api/types";
import { HostDrawer } from "../../parts/host/HostDrawer";
import { ClusterState } from "../../parts/Status";
import { Failure, Waiting } from "../../parts/Waiting";
import { follow, go, goWith, paths } from "../../route";
import { ClusterActions } from "./ClusterActions";
import { TABS } from "./tabs";

interface Props {
  readonly id: string;
  readonly tab: string;
  readonly host: string;
}

export default function ClusterPage({ id, tab, host }: Props) {
  const live = useCluster(id);
  const cluster = live.data;
  if (!cluster) return live.error ? <Failure title="The cluster cannot be shown" live={live} /> : <Waiting />;
  return (
    <ClusterDrawer cluster={cluster} host={host}>
      <PageSection hasBodyWrapper={false} className="fl-head-section">
        <Breadcrumb>
          <BreadcrumbItem to={paths.clusters} onClick={follow}>
            Clusters
          </BreadcrumbItem>
          <BreadcrumbItem isActive>{cluster.name}</BreadcrumbItem>
        </Breadcrumb>
        <div className="fl-page-head">
          <div className="fl-grow fl-row">
            <Title headingLevel="h1" className="fl-anywhere">
              {cluster.name}
            </Title>
            <span data-testid="cluster-status" data-status={cluster.status}>
              <ClusterState status={cluster.status} />
            </span>
          </div>
          <ClusterActions cluster={cluster} />
        </div>
        <p className="fl-subtle fl-anywhere">{cluster.status_info}</p>
      </PageSection>
      <ClusterTabs cluster={cluster} tab={tab} host={host} />
    </ClusterDrawer>
  );
}

function ClusterTabs({ cluster, tab, host }: { readonly cluster: Cluster; readonly tab: string; readonly host: string }) {
  const problems = useProblems(cluster.id).data?.filter(({ blocking, waived, status }) => blocking && !waived && status !== "pending");
  const counts: Readonly<Record<string, number | undefined>> = {
    hosts: cluster.total_host_count,
    problems: problems?.length,
  };
  const known = TABS.find(({ key }) => key === tab) ?? TABS[0];
  // On phones most of the tabs are out of sight, and the one that is open may be among them.
  useEffect(() => {
    document.querySelector("#cluster-tabs [aria-selected=true]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [known?.key]);
  if (!known) return null;
  const { Body } = known;
  return (
    <>
      <PageSection hasBodyWrapper={false} type="tabs">
        <Tabs
          activeKey={known.key}
          onSelect={(_, key) => go(paths.cluster(cluster.id, key === "overview" ? "" : String(key)))}
          aria-label="Parts of the cluster"
          id="cluster-tabs"
          usePageInsets
        >
          {TABS.map(({ key, title }) => (
            <Tab
              key={key}
              eventKey={key}
              id={`tab-${key}`}
              tabContentId="cluster-tab"
              title={<TabTitleText>{counts[key] ? `${title} (${counts[key]})` : title}</TabTitleText>}
            />
          ))}
        </Tabs>
      </PageSection>
      <PageSection hasBodyWrapper={false} isFilled>
        <div id="cluster-tab" role="tabpanel" aria-label={known.title}>
          <Suspense fallback={<Waiting />}>
            <Body cluster={cluster} host={host} />
          </Suspense>
        </div>
      </PageSection>
    </>
  );
}

interface DrawerProps {
  readonly cluster: Cluster;
  readonly host: string;
  readonly children: ReactNode;
}

/** The infra-env of the host is looked up by its id: links carry the host alone. */
export function ClusterDrawer({ cluster, host, children }: DrawerProps) {
  const found = useHosts(hostsOfCluster(cluster.id), { text: host, limit: host ? 1 : 0 }).data?.hosts[0];
  const close = (): void => goWith("host", "");
  return (
    <Drawer isInline isExpanded={host !== ""}>
      <DrawerContent
        panelContent={host && found ? <HostDrawer key={host} infraEnvId={found.infra_env_id} id={host} onClose={close} /> : null}
      >
        <DrawerContentBody>{children}</DrawerContentBody>
      </DrawerContent>
    </Drawer>
  );
}
