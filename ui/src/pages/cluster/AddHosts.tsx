// More hosts for a cluster that runs: what to boot, and installing those that are ready.
import { Alert, Button, Card, CardBody, CardTitle } from "@patternfly/react-core";
import { useState } from "react";
import { actOnHost } from "../../api/actions";
import { hostsOfCluster, useHosts, useInfraEnvsOf } from "../../api/reads";
import type { Cluster } from "../../api/types";
import { counted } from "../../numbers";
import { BootLinks } from "../../parts/media/BootLinks";
import { More } from "../../parts/More";
import { attempt, note } from "../../parts/notes";

const MOST = 1000;

export function AddHosts({ cluster }: { readonly cluster: Cluster }) {
  const infraEnv = useInfraEnvsOf(cluster.id).data?.[0];
  const ready = useHosts(hostsOfCluster(cluster.id), { status: "known", limit: MOST }).data?.hosts.filter(({ day_two }) => day_two) ?? [];
  const [busy, setBusy] = useState(false);
  const install = async (): Promise<void> => {
    setBusy(true);
    let begun = 0;
    for (const row of ready) {
      if (await attempt(() => actOnHost(row, "install"), `${row.name} cannot be installed`)) begun += 1;
    }
    setBusy(false);
    if (begun > 0) note("success", `${counted(begun, "host")} ${begun === 1 ? "is" : "are"} being installed.`);
  };
  return (
    <Card isCompact id="add-hosts-card">
      <CardTitle component="h2">Add hosts to {cluster.name}</CardTitle>
      <CardBody className="fl-stack">
        <p>
          Boot new machines from the image. They appear below, and when they are ready, install them: their disks are overwritten, and they
          join the running cluster. The cluster may ask its administrator to approve each new node (Compute, Nodes in its console).
        </p>
        <Button id="install-ready" className="fl-start" isDisabled={ready.length === 0 || busy} isLoading={busy} onClick={() => void install()}>
          {ready.length === 0 ? "No new host is ready yet" : `Install ${counted(ready.length, "ready host")}`}
        </Button>
        {infraEnv ? (
          <More title="What to boot">
            <BootLinks infraEnv={infraEnv} />
          </More>
        ) : (
          <Alert isInline isPlain variant="info" title="The cluster has no image of its own: give it hosts of a pool under Infrastructure." />
        )}
      </CardBody>
    </Card>
  );
}
