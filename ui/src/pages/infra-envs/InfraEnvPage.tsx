// One environment: its hosts, the image they boot, and giving hosts to clusters and taking them back.
import {
  Breadcrumb,
  BreadcrumbItem,
  Button,
  Drawer,
  DrawerContent,
  DrawerContentBody,
  EmptyState,
  EmptyStateBody,
  PageSection,
  Title,
} from "@patternfly/react-core";
import ServerIcon from "@patternfly/react-icons/dist/esm/icons/server-icon";
import { lazy, Suspense, useMemo, useState } from "react";
import { actOnHost, deleteInfraEnv } from "../../api/actions";
import type { HostRow } from "../../api/own";
import { hostsOfInfraEnv, useInfraEnv } from "../../api/reads";
import { HostDrawer } from "../../parts/host/HostDrawer";
import { HostsPanel } from "../../parts/hosts/HostsPanel";
import { Confirm } from "../../parts/Confirm";
import { BootLinks } from "../../parts/media/BootLinks";
import { attempt } from "../../parts/notes";
import { SetupWarnings } from "../../parts/SetupWarnings";
import { Failure, Waiting } from "../../parts/Waiting";
import { follow, go, goWith, paths } from "../../route";
import { MediaSettings } from "../../parts/media/MediaSettings";
import { BindDialog } from "./BindDialog";

const StaticNetwork = lazy(() => import("../../parts/static/StaticNetwork"));

export default function InfraEnvPage({ id, host }: { readonly id: string; readonly host: string }) {
  const live = useInfraEnv(id);
  const place = useMemo(() => hostsOfInfraEnv(id), [id]);
  const [deleting, setDeleting] = useState(false);
  const infraEnv = live.data;
  if (!infraEnv) return live.error ? <Failure title="The environment cannot be shown" live={live} /> : <Waiting />;
  return (
    <Drawer isInline isExpanded={host !== ""}>
      <DrawerContent panelContent={host ? <HostDrawer key={host} infraEnvId={id} id={host} onClose={() => goWith("host", "")} /> : null}>
        <DrawerContentBody>
          <PageSection hasBodyWrapper={false}>
            <Breadcrumb>
              <BreadcrumbItem to={paths.infraEnvs} onClick={follow}>
                Infrastructure
              </BreadcrumbItem>
              <BreadcrumbItem isActive>{infraEnv.name}</BreadcrumbItem>
            </Breadcrumb>
            <div className="fl-page-head">
              <div className="fl-grow">
                <Title headingLevel="h1" className="fl-anywhere">
                  {infraEnv.name}
                </Title>
              </div>
              <Button variant="secondary" isDanger onClick={() => setDeleting(true)}>
                Delete
              </Button>
            </div>
          </PageSection>
          <PageSection hasBodyWrapper={false} isFilled>
            <div className="fl-stack">
              <HostsPanel
                place={place}
                active={host}
                actions={(chosen, done) => <PoolActions chosen={chosen} done={done} />}
                empty={
                  <EmptyState headingLevel="h2" titleText="No hosts yet" icon={ServerIcon}>
                    <EmptyStateBody>Boot machines from the image below. They appear here by themselves.</EmptyStateBody>
                  </EmptyState>
                }
              />
              <SetupWarnings only="images-unreachable" />
              <BootLinks infraEnv={infraEnv} />
              <MediaSettings infraEnv={infraEnv} />
              <Suspense fallback={<Waiting />}>
                <StaticNetwork infraEnv={infraEnv} />
              </Suspense>
            </div>
          </PageSection>
          {deleting && (
            <Confirm
              title={`Delete ${infraEnv.name}?`}
              action="Delete"
              onClose={() => setDeleting(false)}
              onConfirm={async () => {
                await deleteInfraEnv(id);
                go(paths.infraEnvs);
              }}
            >
              Its image stops working, and hosts in its pool are forgotten.
            </Confirm>
          )}
        </DrawerContentBody>
      </DrawerContent>
    </Drawer>
  );
}

function PoolActions({ chosen, done }: { readonly chosen: readonly HostRow[]; readonly done: () => void }) {
  const [binding, setBinding] = useState(false);
  const free = chosen.filter(({ cluster_id }) => !cluster_id);
  const bound = chosen.filter(({ cluster_id }) => cluster_id);
  const unbind = async (): Promise<void> => {
    for (const row of bound) {
      if (!(await attempt(() => actOnHost(row, "unbind"), `${row.name} cannot be unbound`))) return;
    }
    done();
  };
  return (
    <>
      {free.length > 0 && (
        <Button variant="secondary" size="sm" id="bind" onClick={() => setBinding(true)}>
          Give {free.length} to a cluster…
        </Button>
      )}
      {bound.length > 0 && (
        <Button variant="secondary" size="sm" id="unbind" onClick={() => void unbind()}>
          Take {bound.length} back
        </Button>
      )}
      {binding && <BindDialog hosts={free} onDone={done} onClose={() => setBinding(false)} />}
    </>
  );
}
