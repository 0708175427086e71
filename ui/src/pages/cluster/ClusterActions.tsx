// What a cluster's state lets one do next: the next step as a button, the rest in a menu.
import { Button, Dropdown, DropdownItem, DropdownList, MenuToggle } from "@patternfly/react-core";
import EllipsisVIcon from "@patternfly/react-icons/dist/esm/icons/ellipsis-v-icon";
import { useState } from "react";
import { actOnCluster, files } from "../../api/actions";
import type { Cluster } from "../../api/types";
import { Confirm } from "../../parts/Confirm";
import { attempt } from "../../parts/notes";
import { follow, go, paths } from "../../route";
import { DRAFT, INSTALLING } from "../../words";

type Asking = "" | "install" | "cancel" | "reset";

export function ClusterActions({ cluster }: { readonly cluster: Cluster }) {
  const [asking, setAsking] = useState<Asking>("");
  const [open, setOpen] = useState(false);
  const { id, status } = cluster;
  const addHosts = async (): Promise<void> => {
    if (await attempt(() => actOnCluster(id, "allow-add-hosts"), "The cluster cannot take hosts")) go(paths.cluster(id, "hosts"));
  };
  return (
    <div className="fl-row">
      {DRAFT.has(status) && (
        <Button component="a" variant="secondary" href={paths.wizard(id)} onClick={follow} id="continue-setup">
          {status === "ready" ? "Change the setup" : "Go on with the setup"}
        </Button>
      )}
      {status === "ready" && (
        <Button id="install" onClick={() => setAsking("install")}>
          Install cluster
        </Button>
      )}
      {INSTALLING.has(status) && (
        <Button variant="secondary" isDanger id="cancel-install" onClick={() => setAsking("cancel")}>
          Cancel installation
        </Button>
      )}
      {(status === "error" || status === "cancelled") && (
        <Button variant="secondary" id="reset" onClick={() => setAsking("reset")}>
          Reset and try again
        </Button>
      )}
      {status === "installed" && (
        <Button variant="secondary" onClick={() => void addHosts()} id="add-hosts">
          Add hosts
        </Button>
      )}
      <Dropdown
        isOpen={open}
        onOpenChange={setOpen}
        onSelect={() => setOpen(false)}
        popperProps={{ position: "right" }}
        toggle={(reference) => (
          <MenuToggle ref={reference} variant="plain" aria-label="More actions" isExpanded={open} onClick={() => setOpen(!open)}>
            <EllipsisVIcon />
          </MenuToggle>
        )}
      >
        <DropdownList>
          <DropdownItem key="kubeconfig" to={files.credentials(id, "kubeconfig-noingress")} isDisabled={DRAFT.has(status)}>
            Download kubeconfig
          </DropdownItem>
          <DropdownItem key="logs" to={files.logs(id)} isDisabled={DRAFT.has(status)}>
            Download logs
          </DropdownItem>
          <DropdownItem key="danger" isDanger onClick={() => go(paths.cluster(id, "danger"))}>
            Delete…
          </DropdownItem>
        </DropdownList>
      </Dropdown>
      {asking !== "" && <Asked asking={asking} cluster={cluster} onClose={() => setAsking("")} />}
    </div>
  );
}

function Asked({ asking, cluster, onClose }: { readonly asking: Exclude<Asking, "">; readonly cluster: Cluster; readonly onClose: () => void }) {
  const { id, name } = cluster;
  const confirm = async (): Promise<void> => {
    await actOnCluster(id, asking);
  };
  if (asking === "install") {
    return (
      <Confirm title={`Install ${name}?`} action="Install" danger={false} onConfirm={confirm} onClose={onClose}>
        The installation disks of all {cluster.total_host_count} hosts are overwritten.
      </Confirm>
    );
  }
  if (asking === "cancel") {
    return (
      <Confirm title={`Cancel the installation of ${name}?`} action="Cancel installation" onConfirm={confirm} onClose={onClose}>
        The hosts stop where they are. Afterwards the cluster can be reset and installed anew.
      </Confirm>
    );
  }
  return (
    <Confirm title={`Reset ${name}?`} action="Reset" danger={false} onConfirm={confirm} onClose={onClose}>
      The settings stay. Hosts that left the discovery image have to boot it again. Download the logs first if you want to
      keep them.
    </Confirm>
  );
}
