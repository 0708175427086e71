// What can be done with one host, in its row and in its drawer.
import { MenuToggle } from "@patternfly/react-core";
import EllipsisVIcon from "@patternfly/react-icons/dist/esm/icons/ellipsis-v-icon";
import { ActionsColumn, type IAction } from "@patternfly/react-table";
import { useState } from "react";
import { actOnHost, deleteHost, retryHost } from "../../api/actions";
import type { HostRow } from "../../api/own";
import { EDITABLE_HOST } from "../../words";
import { Confirm } from "../Confirm";
import { attempt, note } from "../notes";
import { BulkChange } from "./BulkChange";
import { ReplaceDialog } from "./ReplaceDialog";

export type ActedHost = Pick<HostRow, "id" | "infra_env_id" | "cluster_id" | "name" | "status" | "day_two">;

interface Props {
  readonly row: ActedHost;
  /** Where the host is not open yet. */
  readonly onOpen?: () => void;
  readonly onRemoved?: () => void;
}

export function HostMenu({ row, onOpen, onRemoved }: Props) {
  const [asking, setAsking] = useState<"" | "remove" | "change" | "replace">("");
  const act = (action: "unbind" | "reset" | "install", failed: string): void =>
    void attempt(() => actOnHost(row, action), failed);
  const editable = EDITABLE_HOST.has(row.status);
  const items: IAction[] = [
    ...(onOpen ? [{ title: "Open", onClick: onOpen }] : []),
    { title: "Change name, role, labels…", isDisabled: !editable, onClick: () => setAsking("change") },
  ];
  if (row.day_two) {
    const ready = row.status === "known";
    items.push({ title: "Install this host", isDisabled: !ready, onClick: () => act("install", "The host cannot be installed") });
    items.push({ title: "Reset this host", isDisabled: row.status !== "error", onClick: () => act("reset", "The host cannot be reset") });
  }
  if (row.cluster_id && row.status === "error" && !row.day_two) {
    items.push({
      title: "Try this host again",
      onClick: () => void attempt(() => retryHost(row), "The host cannot be tried again", `${row.name} is tried again.`),
    });
    items.push({ title: "Replace by another machine…", onClick: () => setAsking("replace") });
  }
  if (row.cluster_id) {
    items.push({ title: "Unbind from the cluster", onClick: () => act("unbind", "The host cannot be unbound") });
  }
  items.push({ isSeparator: true }, { title: "Remove host", isDanger: true, onClick: () => setAsking("remove") });
  return (
    <>
      <ActionsColumn
        items={items}
        actionsToggle={({ onToggle, isOpen, isDisabled, toggleRef }) => (
          <MenuToggle
            ref={toggleRef}
            variant="plain"
            aria-label={`Actions of ${row.name}`}
            isExpanded={isOpen}
            isDisabled={isDisabled}
            onClick={onToggle}
          >
            <EllipsisVIcon />
          </MenuToggle>
        )}
      />
      {asking === "change" && <BulkChange hosts={[row]} onClose={() => setAsking("")} />}
      {asking === "replace" && <ReplaceDialog row={row} onClose={() => setAsking("")} />}
      {asking === "remove" && (
        <Confirm
          title={`Remove ${row.name}?`}
          action="Remove"
          onClose={() => setAsking("")}
          onConfirm={async () => {
            await deleteHost(row);
            note("success", `${row.name} was removed.`);
            onRemoved?.();
          }}
        >
          The service forgets the host. A machine that still runs the discovery image comes back by itself after its next
          boot.
        </Confirm>
      )}
    </>
  );
}
