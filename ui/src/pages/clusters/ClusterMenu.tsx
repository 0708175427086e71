import { useState } from "react";
import { ActionsColumn } from "@patternfly/react-table";
import { call, V2 } from "../../api/http";
import type { ClusterRow } from "../../api/own";
import { Confirm } from "../../parts/Confirm";
import { note } from "../../parts/notes";
import { go, paths } from "../../route";
import { DRAFT, INSTALLING } from "../../words";

export function ClusterMenu({ row }: { readonly row: ClusterRow }) {
  const [asking, setAsking] = useState(false);
  const items = [
    ...(DRAFT.has(row.status) ? [{ title: "Go on with the setup", onClick: () => go(paths.wizard(row.id)) }] : []),
    { title: "Show events", onClick: () => go(paths.cluster(row.id, "events")) },
    { isSeparator: true },
    { title: "Delete cluster", isDanger: true, isDisabled: INSTALLING.has(row.status), onClick: () => setAsking(true) },
  ];
  return (
    <>
      <ActionsColumn items={items} aria-label={`Actions of ${row.name}`} />
      {asking && (
        <Confirm
          title={`Delete ${row.name}?`}
          action="Delete"
          {...(row.status === "installed" ? { typed: row.name } : {})}
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            await call("DELETE", `${V2}/clusters/${row.id}`);
            note("success", `${row.name} was deleted.`);
          }}
        >
          The service forgets the cluster, its hosts, files and credentials. Machines that run already go on running.
        </Confirm>
      )}
    </>
  );
}
