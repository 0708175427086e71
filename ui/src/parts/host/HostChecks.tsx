// Every check of one host, what fails first.
import { Button, Label } from "@patternfly/react-core";
import { checkAgain } from "../../api/actions";
import type { Finding } from "../../api/own";
import type { Host } from "../../api/types";
import type { Live } from "../../live/resources";
import { counted } from "../../numbers";
import { checkTitle } from "../../checks";
import { categoryName, type Tone } from "../../words";
import { More } from "../More";
import { attempt } from "../notes";
import { EvidenceList } from "../problems/EvidenceList";
import { FixButton } from "../problems/FixButton";
import { Measured } from "../problems/Measured";
import { ToneIcon } from "../Status";
import { Failure, Waiting } from "../Waiting";

const ORDER = ["failure", "error", "pending", "success", "disabled"];
const TONES: Readonly<Record<string, Tone>> = {
  failure: "warning",
  error: "danger",
  pending: "info",
  success: "success",
  disabled: "neutral",
};

export function HostChecks({ host, live }: { readonly host: Host; readonly live: Live<readonly Finding[]> }) {
  if (!live.data) return live.error ? <Failure title="The checks cannot be shown" live={live} /> : <Waiting />;
  const sorted = [...live.data].sort((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status));
  const telling = sorted.filter(({ status }) => status !== "success" && status !== "disabled");
  const quiet = sorted.filter(({ status }) => status === "success" || status === "disabled");
  const { cluster_id: clusterId } = host;
  return (
    <div className="fl-stack fl-drawer-tab">
      {clusterId && (
        <Button
          variant="secondary"
          size="sm"
          className="fl-start"
          onClick={() =>
            void attempt(() => checkAgain(clusterId, { host_ids: [host.id] }), "It could not be asked for", "Checked now.")
          }
        >
          Check now
        </Button>
      )}
      <ul className="fl-cases">
        {telling.map((finding) => (
          <Check key={finding.id} finding={finding} />
        ))}
      </ul>
      {quiet.length > 0 && (
        <More title={`${counted(quiet.length, "check")} passed`}>
          <ul className="fl-cases">
            {quiet.map((finding) => (
              <Check key={finding.id} finding={finding} />
            ))}
          </ul>
        </More>
      )}
    </div>
  );
}

function Check({ finding }: { readonly finding: Finding }) {
  return (
    <li className="fl-case" data-testid={`check-${finding.id}`}>
      <p className="fl-state">
        <ToneIcon tone={TONES[finding.status] ?? "neutral"} />
        <strong>{checkTitle(finding.id)}</strong>
        <Label isCompact variant="outline">
          {categoryName(finding.category)}
        </Label>
      </p>
      <p className="fl-anywhere">{finding.message}</p>
      <EvidenceList evidence={finding.evidence} />
      <Measured finding={finding} />
      {finding.fixes.length > 0 && (
        <div className="fl-row">
          {finding.fixes.map((fix) => (
            <FixButton key={fix.title} fix={fix} />
          ))}
        </div>
      )}
    </li>
  );
}
