// Letting a check pass needs a reason that others can read later.
import { FormGroup, TextArea } from "@patternfly/react-core";
import { useState } from "react";
import { waive } from "../../api/actions";
import type { Problem } from "../../api/own";
import { checkTitle } from "../../checks";
import { Dialog } from "../Dialog";

interface Props {
  readonly clusterId: string;
  readonly problem: Problem;
  readonly onClose: () => void;
}

export function WaiveDialog({ clusterId, problem, onClose }: Props) {
  const [reason, setReason] = useState("");
  return (
    <Dialog
      id="waive"
      title={`Let “${checkTitle(problem.check)}” pass?`}
      action="Let it pass"
      warning
      ready={reason.trim() !== ""}
      onAct={() => waive(clusterId, problem.scope, problem.check, reason)}
      onClose={onClose}
    >
      <p>
        The check no longer stands in the way of this cluster&apos;s installation
        {problem.scope === "host" ? ", on any of its hosts" : ""}. The cluster may not be supported then.
      </p>
      <FormGroup label="Reason" isRequired fieldId="waive-reason">
        <TextArea
          id="waive-reason"
          value={reason}
          maxLength={500}
          rows={3}
          onChange={(_, value) => setReason(value)}
          placeholder="Who decided it, and why it is all right here"
        />
      </FormGroup>
    </Dialog>
  );
}
