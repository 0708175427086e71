// Giving hosts of the pool to a cluster.
import { Alert, Button, Form, FormGroup, FormSelect, FormSelectOption, Modal, ModalBody, ModalFooter, ModalHeader } from "@patternfly/react-core";
import { useState } from "react";
import { bindHost } from "../../api/actions";
import { sentence, V1 } from "../../api/http";
import type { ClusterRow, HostRow } from "../../api/own";
import { useLive } from "../../live/resources";
import { CLUSTERS } from "../../live/tags";
import { counted } from "../../numbers";
import { clusterStatus, DRAFT } from "../../words";

interface Props {
  readonly hosts: readonly HostRow[];
  readonly onClose: (changed: boolean) => void;
}

export function BindDialog({ hosts, onClose }: Props) {
  const all = useLive<readonly ClusterRow[]>(`${V1}/clusters`, [CLUSTERS]).data ?? [];
  const open = all.filter(({ status }) => DRAFT.has(status) || status === "adding-hosts");
  const [chosen, setChosen] = useState("");
  const [failure, setFailure] = useState("");
  const [busy, setBusy] = useState(false);
  const target = chosen || (open[0]?.id ?? "");
  const bind = async (): Promise<void> => {
    setBusy(true);
    try {
      for (const row of hosts) await bindHost(row, target);
      onClose(true);
    } catch (refusal) {
      setFailure(sentence(refusal));
      setBusy(false);
    }
  };
  return (
    <Modal isOpen variant="small" onClose={() => onClose(false)} aria-labelledby="bind-title">
      <ModalHeader title={`Give ${counted(hosts.length, "host")} to a cluster`} labelId="bind-title" />
      <ModalBody>
        {open.length === 0 ? (
          <p>No cluster can take hosts now. Create one first, or let an installed cluster add hosts.</p>
        ) : (
          <Form onSubmit={(event) => event.preventDefault()}>
            <FormGroup label="Cluster" fieldId="bind-cluster">
              <FormSelect id="bind-cluster" value={target} onChange={(_, value) => setChosen(value)}>
                {open.map(({ id, name, status }) => (
                  <FormSelectOption key={id} value={id} label={`${name} (${clusterStatus(status).text})`} />
                ))}
              </FormSelect>
            </FormGroup>
          </Form>
        )}
        {failure && <Alert className="fl-gap-top" isInline variant="danger" title={failure} />}
      </ModalBody>
      <ModalFooter>
        <Button id="bind-confirm" isDisabled={target === "" || busy} isLoading={busy} onClick={() => void bind()}>
          Give
        </Button>
        <Button variant="link" onClick={() => onClose(false)}>
          Cancel
        </Button>
      </ModalFooter>
    </Modal>
  );
}
