// The manifests a cluster starts with: brought, read, changed and taken away as long as the installation has not begun.
import { Button, Card, CardBody, CardHeader, CardTitle } from "@patternfly/react-core";
import { useState } from "react";
import { deleteManifest, manifestsOf } from "../../api/manifests";
import type { Cluster, Manifest } from "../../api/types";
import { useLive } from "../../live/resources";
import { clusterTag } from "../../live/tags";
import { DRAFT } from "../../words";
import { Confirm } from "../Confirm";
import { note } from "../notes";
import { Failure, Waiting } from "../Waiting";
import { ManifestDialog } from "./ManifestDialog";

export function ManifestsCard({ cluster }: { readonly cluster: Cluster }) {
  const live = useLive<readonly Manifest[]>(manifestsOf(cluster.id), [clusterTag(cluster.id)]);
  const [editing, setEditing] = useState<Manifest | "new">();
  const [removing, setRemoving] = useState<Manifest>();
  const editable = DRAFT.has(cluster.status);
  const own = live.data;
  const remove = async (manifest: Manifest): Promise<void> => {
    await deleteManifest(cluster.id, manifest);
    live.refresh();
    note("success", `${manifest.file_name} was deleted.`);
  };
  const close = (): void => {
    setEditing(undefined);
    live.refresh();
  };
  return (
    <Card isCompact id="manifests">
      <CardHeader
        {...(editable
          ? {
              actions: {
                actions: (
                  <Button variant="secondary" size="sm" id="add-manifest" onClick={() => setEditing("new")}>
                    Add a manifest
                  </Button>
                ),
                hasNoOffset: true,
              },
            }
          : {})}
      >
        <CardTitle component="h2">Custom manifests</CardTitle>
      </CardHeader>
      <CardBody className="fl-stack">
        <p className="fl-subtle">
          Kubernetes objects the cluster is created with. The service checks that they are YAML or JSON, not what they do: a
          wrong one can make the installation fail.
        </p>
        {!own && (live.error ? <Failure title="The manifests cannot be listed" live={live} /> : <Waiting />)}
        {own?.length === 0 && <p className="fl-subtle">None.</p>}
        <ul className="fl-list" aria-label="Custom manifests">
          {own?.map((one) => (
            <li key={`${one.folder}/${one.file_name}`} className="fl-row fl-between" data-testid={`manifest-${one.file_name}`}>
              <span className="fl-mono">
                {one.folder}/{one.file_name}
              </span>
              <span className="fl-row">
                <Button variant="link" size="sm" isInline aria-label={`${editable ? "Edit" : "Show"} ${one.file_name}`} onClick={() => setEditing(one)}>
                  {editable ? "Edit" : "Show"}
                </Button>
                {editable && (
                  <Button variant="link" size="sm" isInline isDanger aria-label={`Delete ${one.file_name}`} onClick={() => setRemoving(one)}>
                    Delete
                  </Button>
                )}
              </span>
            </li>
          ))}
        </ul>
      </CardBody>
      {editing && (
        <ManifestDialog clusterId={cluster.id} manifest={editing === "new" ? undefined : editing} readOnly={!editable} onClose={close} />
      )}
      {removing && (
        <Confirm title={`Delete ${removing.file_name}?`} action="Delete" onClose={() => setRemoving(undefined)} onConfirm={() => remove(removing)}>
          The cluster will be created without it.
        </Confirm>
      )}
    </Card>
  );
}
