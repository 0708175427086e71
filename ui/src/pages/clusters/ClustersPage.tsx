// All clusters: live, searched and sorted in the page.
import { Button, Content, PageSection, Title } from "@patternfly/react-core";
import { useMemo, useState } from "react";
import { V1 } from "../../api/http";
import type { ClusterRow } from "../../api/own";
import { useLive } from "../../live/resources";
import { CLUSTERS } from "../../live/tags";
import { SetupHint } from "../../parts/SetupWarnings";
import { Failure, Waiting } from "../../parts/Waiting";
import { follow, paths } from "../../route";
import { ClustersTable } from "./ClustersTable";
import { ClustersToolbar } from "./ClustersToolbar";
import { NoClusters } from "./NoClusters";
import { arranged, FIRST_VIEW, statusCounts, type View } from "./rows";

const KEY = "firstlight.clusters";

function storedView(): View {
  try {
    return { ...FIRST_VIEW, ...(JSON.parse(window.sessionStorage.getItem(KEY) ?? "{}") as Partial<View>) };
  } catch {
    return FIRST_VIEW;
  }
}

export function ClustersPage() {
  const live = useLive<readonly ClusterRow[]>(`${V1}/clusters`, [CLUSTERS]);
  const [view, setView] = useState<View>(storedView);
  const change = (next: Partial<View>): void => {
    const after = { ...view, ...next };
    setView(after);
    window.sessionStorage.setItem(KEY, JSON.stringify(after));
  };
  const rows = useMemo(() => arranged(live.data ?? [], view), [live.data, view]);
  return (
    <>
      <PageSection hasBodyWrapper={false}>
        <div className="fl-page-head">
          <div className="fl-grow">
            <Title headingLevel="h1">Clusters</Title>
          </div>
          <Button component="a" href={paths.newCluster} onClick={follow} id="create-cluster">
            Create cluster
          </Button>
        </div>
        <SetupHint />
      </PageSection>
      <PageSection hasBodyWrapper={false} isFilled>
        {live.data === undefined && (live.error ? <Failure title="The clusters cannot be listed" live={live} /> : <Waiting />)}
        {live.data?.length === 0 && <NoClusters />}
        {live.data !== undefined && live.data.length > 0 && (
          <>
            <ClustersToolbar view={view} counts={statusCounts(live.data)} shown={rows.length} onChange={change} />
            <ClustersTable rows={rows} view={view} onChange={change} />
            {rows.length === 0 && (
              <Content component="p" className="fl-subtle">
                No cluster matches. <Button variant="link" isInline onClick={() => change({ text: "", statuses: [] })}>Clear the filter</Button>
              </Content>
            )}
          </>
        )}
      </PageSection>
    </>
  );
}
