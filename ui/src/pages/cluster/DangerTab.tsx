// What cannot be taken back, apart from everything else.
import { Button, Card, CardBody, CardTitle } from "@patternfly/react-core";
import { useState } from "react";
import { actOnCluster, deleteCluster } from "../../api/actions";
import { Confirm } from "../../parts/Confirm";
import { note } from "../../parts/notes";
import { go, paths } from "../../route";
import { DRAFT, INSTALLING } from "../../words";
import type { TabProps } from "./tabs";

export default function DangerTab({ cluster }: TabProps) {
  const [asking, setAsking] = useState<"" | "reset" | "delete">("");
  const { id, name, status } = cluster;
  const running = INSTALLING.has(status);
  const remove = async (): Promise<void> => {
    await deleteCluster(id);
    note("success", `${name} was deleted.`);
    go(paths.clusters);
  };
  return (
    <div className="fl-stack fl-narrow">
      <Card isCompact>
        <CardTitle component="h2">Reset the installation</CardTitle>
        <CardBody className="fl-stack">
          <p>Back to the settings: files and credentials of the last attempt go, the hosts have to boot the image again.
            {DRAFT.has(status) && " There is no installation to reset yet."}</p>
          <Button variant="secondary" isDanger className="fl-start" isDisabled={DRAFT.has(status)} onClick={() => setAsking("reset")}>
            Reset
          </Button>
        </CardBody>
      </Card>
      <Card isCompact>
        <CardTitle component="h2">Delete the cluster</CardTitle>
        <CardBody className="fl-stack">
          <p>
            The service forgets the cluster, its hosts, files and credentials. Machines that run already go on running.
            {running && " Cancel the installation first."}
          </p>
          <Button variant="danger" className="fl-start" id="delete-cluster" isDisabled={running} onClick={() => setAsking("delete")}>
            Delete
          </Button>
        </CardBody>
      </Card>
      {asking === "reset" && (
        <Confirm title={`Reset ${name}?`} action="Reset" onClose={() => setAsking("")} onConfirm={() => actOnCluster(id, "reset")}>
          Kubeconfig and password of the last attempt are lost. Download the logs first if you want to keep them.
        </Confirm>
      )}
      {asking === "delete" && (
        <Confirm title={`Delete ${name}?`} action="Delete" typed={name} onClose={() => setAsking("")} onConfirm={remove}>
          This cannot be taken back.
        </Confirm>
      )}
    </div>
  );
}
