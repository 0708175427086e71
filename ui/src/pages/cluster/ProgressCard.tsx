// How far the installation is: the whole, its three phases, and every host by stage.
import { Alert, Button, Card, CardBody, CardTitle, Progress, type ProgressProps } from "@patternfly/react-core";
import { hostsOfCluster, useHosts } from "../../api/reads";
import type { Cluster } from "../../api/types";
import { Stage } from "../../parts/hosts/Stage";
import { HostState } from "../../parts/Status";
import { duration, moment, shortTime } from "../../numbers";
import { goWith } from "../../route";
import { INSTALLING, roleName } from "../../words";

const SHOWN = 12;
/** States of a host whose reason a person needs. */
const TELLING = new Set(["error", "installing-pending-user-action", "preparing-failed", "disconnected"]);

export function ProgressCard({ cluster }: { readonly cluster: Cluster }) {
  const { progress, status } = cluster;
  const started = moment(cluster.install_started_at);
  const ended = moment(cluster.install_completed_at);
  const total = progress?.total_percentage ?? 0;
  const variant: ProgressProps["variant"] = status === "error" ? "danger" : status === "installed" || status === "adding-hosts" ? "success" : undefined;
  return (
    <Card isCompact id="progress">
      <CardTitle component="h2">Installation</CardTitle>
      <CardBody className="fl-stack">
        <Progress
          id="install-progress"
          value={total}
          aria-label="Progress of the installation"
          title={headline(status, started, ended)}
          {...(variant ? { variant } : {})}
        />
        <div className="fl-phases">
          <Phase name="Preparing" value={progress?.preparing_for_installation_stage_percentage ?? 0} />
          <Phase name="Installing hosts" value={progress?.installing_stage_percentage ?? 0} />
          <Phase
            name={progress?.finalizing_stage && status === "finalizing" ? `Finalizing: ${progress.finalizing_stage}` : "Finalizing"}
            value={progress?.finalizing_stage_percentage ?? 0}
          />
        </div>
        {progress?.finalizing_stage_timed_out && (
          <Alert isInline variant="warning" title={`“${progress.finalizing_stage ?? ""}” takes longer than it should.`}>
            The installation goes on. The operators below show what it waits for.
          </Alert>
        )}
        {status === "installing-pending-user-action" && (
          <Alert isInline variant="warning" title="A host waits for you">
            Look at the hosts marked below: most often a machine booted the discovery image again instead of its disk.
          </Alert>
        )}
        <HostProgress cluster={cluster} />
      </CardBody>
    </Card>
  );
}

function headline(status: string, started: Date | null, ended: Date | null): string {
  if (!started) return "Not started";
  if (!ended) return `Started ${shortTime(started)}`;
  const took = duration(ended.getTime() - started.getTime());
  if (status === "error") return `Failed after ${took}, ${shortTime(ended)}`;
  if (status === "cancelled") return `Cancelled after ${took}, ${shortTime(ended)}`;
  return `Took ${took}, done ${shortTime(ended)}`;
}

function Phase({ name, value }: { readonly name: string; readonly value: number }) {
  return <Progress aria-label={name} title={name} value={value} size="sm" {...(value === 100 ? { variant: "success" as const } : {})} />;
}

function HostProgress({ cluster }: { readonly cluster: Cluster }) {
  const live = useHosts(hostsOfCluster(cluster.id), { sort: "percent", limit: SHOWN });
  if (!live.data || live.data.total === 0) return null;
  // What is said of many hosts, as that their cluster failed, is no reason of one.
  const said = new Map<string, number>();
  for (const { status_info: text } of live.data.hosts) said.set(text, (said.get(text) ?? 0) + 1);
  return (
    <ul className="fl-list" aria-label="Hosts by stage" data-testid="host-stages">
      {live.data.hosts.map((row) => (
        <li key={row.id} className="fl-host-progress">
          <Button variant="link" isInline onClick={() => goWith("host", row.id)} className="fl-host-name">
            {row.name}
          </Button>
          <span className="fl-subtle fl-small">{row.bootstrap ? "Bootstrap" : roleName(row.effective_role)}</span>
          {row.stage ? <Stage row={row} /> : <HostState status={row.status} info={row.status_info} />}
          {TELLING.has(row.status) && said.get(row.status_info) === 1 && <p className="fl-wide fl-small fl-anywhere">{row.status_info}</p>}
        </li>
      ))}
      {live.data.total > SHOWN && (
        <li className="fl-subtle">
          {INSTALLING.has(cluster.status) ? "The hosts that are furthest behind; " : ""}all {live.data.total} are under Hosts.
        </li>
      )}
    </ul>
  );
}
