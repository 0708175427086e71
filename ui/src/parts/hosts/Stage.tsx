// How far one host's installation is: a bar of its stages and the name of the present one.
import type { HostRow } from "../../api/own";
import { hostStatus } from "../../words";
import { ToneIcon } from "../Status";

export function Stage({ row }: { readonly row: HostRow }) {
  const word = hostStatus(row.status);
  const done = row.stage === "Done";
  const tone = row.stage_late && word.tone === "progress" ? "warning" : done ? "success" : word.tone;
  // Whoever failed says where; how far the stage was helps nobody then.
  const info = done ? "" : tone === "danger" ? row.stage : row.stage_info;
  return (
    <span className="fl-stage" title={[row.stage, row.stage_info, row.status_info].filter(Boolean).join(" · ")}>
      <ToneIcon tone={tone} />
      <StageBar number={row.stage_number} count={row.stage_count} tone={tone} />
      <span className="fl-stage-text">{word.tone === "progress" && !done ? row.stage : word.text}</span>
      {info && <span className="fl-subtle fl-small fl-number fl-stage-info">{info}</span>}
    </span>
  );
}

export function StageBar({ number, count, tone }: { readonly number: number; readonly count: number; readonly tone: string }) {
  return (
    <span className={`fl-stages fl-stages-${tone}`} role="img" aria-label={`Stage ${number} of ${count}`}>
      {Array.from({ length: count }, (_, index) => (
        <span key={index} className={index < number - 1 ? "fl-done" : index === number - 1 ? "fl-now" : ""} />
      ))}
    </span>
  );
}
