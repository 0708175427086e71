// Giving hosts of the pool to a cluster.
import { FormGroup, FormSelect, FormSelectOption } from "@patternfly/react-core";
import { useState } from "react";
import { bindHost } from "../../api/actions";
import { V1 } from "../../api/http";
import type { ClusterRow, HostRow } from "../../api/own";
import { useLive } from "../../live/resources";
import { CLUSTERS } from "../../live/tags";
import { counted } from "../../numbers";
import { Dialog } from "../../parts/Dialog";
import { clusterStatus, DRAFT } from "../../words";

interface Props {
  readonly hosts: readonly HostRow[];
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export function BindDialog({ hosts, onDone, onClose }: Props) {
  const all = useLive<readonly ClusterRow[]>(`${V1}/clusters`, [CLUSTERS]).data ?? [];
  const open = all.filter(({ status }) => DRAFT.has(status) || status === "adding-hosts");
  const [chosen, setChosen] = useState("");
  const target = chosen || (open[0]?.id ?? "");
  const bind = async (): Promise<void> => {
    for (const row of hosts) await bindHost(row, target);
    onDone();
  };
  return (
    <Dialog id="bind-confirm" title={`Give ${counted(hosts.length, "host")} to a cluster`} action="Give" ready={target !== ""} onAct={bind} onClose={onClose}>
      {open.length === 0 ? (
        <p>No cluster can take hosts now. Create one first, or let an installed cluster add hosts.</p>
      ) : (
        <FormGroup label="Cluster" fieldId="bind-cluster">
          <FormSelect id="bind-cluster" value={target} onChange={(_, value) => setChosen(value)}>
            {open.map(({ id, name, status }) => (
              <FormSelectOption key={id} value={id} label={`${name} (${clusterStatus(status).text})`} />
            ))}
          </FormSelect>
        </FormGroup>
      )}
    </Dialog>
  );
}
