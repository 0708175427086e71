// The stages one host goes through, with the present one and what it says of itself.
import { ProgressStep, ProgressStepper } from "@patternfly/react-core";
import type { Host } from "../../api/types";
import { clockTime, moment } from "../../numbers";

export function HostStages({ host }: { readonly host: Host }) {
  const stages = host.progress_stages ?? [];
  const present = stages.indexOf(host.progress?.current_stage ?? "");
  const failed = host.status === "error";
  const started = moment(host.progress?.stage_started_at);
  return (
    <ProgressStepper isVertical isCompact={false} aria-label="Stages">
      {stages.map((stage, index) => {
        const done = index < present || stage === "Done" ? present >= index : false;
        const variant = done ? "success" : index === present ? (failed ? "danger" : "info") : "pending";
        const detail = index === present && !done ? [host.progress?.progress_info, started && `since ${clockTime(started)}`] : [];
        return (
          <ProgressStep
            key={stage}
            id={`stage-${index}`}
            titleId={`stage-title-${index}`}
            variant={variant}
            isCurrent={index === present}
            aria-label={`${stage}: ${variant === "info" ? "now" : variant}`}
            description={detail.filter(Boolean).join(" · ")}
          >
            {stage}
          </ProgressStep>
        );
      })}
    </ProgressStepper>
  );
}
