// The course of an installation: a lane per host, a bar per stage.
import { Button } from "@patternfly/react-core";
import { useEffect, useState } from "react";
import type { Span, Timeline } from "../api/pictures";
import { clockTime, counted, duration } from "../numbers";
import { goWith } from "../route";
import { roleName } from "../words";
import { Picture } from "./Picture";
import { endOf, type Scale, scaleOf, share, ticks } from "./spans";

const TALL = 20;
/** The order gives each stage its colour; waiting is pale, work is strong. */
const STAGES = [
  "Starting installation",
  "Installing",
  "Writing image to disk",
  "Copying registry data to disk",
  "Waiting for control plane",
  "Waiting for bootkube",
  "Waiting for controller",
  "Rebooting",
  "Waiting for ignition",
  "Configuring",
  "Joined",
];
const CLOCK = 1_000;

/** The service's time, which goes on while stages last. */
function useNow(timeline: Timeline): number {
  const [since, setSince] = useState(0);
  const lasting = timeline.lanes.some(({ spans }) => spans.some(({ ended }) => ended === null)) || timeline.finalizing.some(({ ended }) => ended === null);
  useEffect(() => {
    setSince(0);
    if (!lasting) return undefined;
    const began = performance.now();
    const timer = window.setInterval(() => setSince(performance.now() - began), CLOCK);
    return () => window.clearInterval(timer);
  }, [timeline, lasting]);
  return Date.parse(timeline.now) + since;
}

export function Gantt({ timeline }: { readonly timeline: Timeline }) {
  const now = useNow(timeline);
  const scale = scaleOf(timeline, now);
  if (!scale) return <p data-testid="no-timeline">Nothing to show yet: the picture begins with the installation.</p>;
  const used = new Set(timeline.lanes.flatMap(({ spans }) => spans.map(({ stage }) => stage)));
  const said = (span: Span): string => `${span.stage}${span.failed ? " (failed)" : ""}, ${duration(endOf(span, now) - Date.parse(span.began))}`;
  const table = {
    titles: ["Host", "Stage", "Began", "Took"],
    rows: [
      ...timeline.lanes.flatMap((lane) => lane.spans.map((span) => [lane.name, span, span.began] as const)),
      ...timeline.finalizing.map((span) => ["Cluster", span, span.began] as const),
    ].map(([name, span, began]) => [
      name,
      span.stage + (span.failed ? " (failed)" : ""),
      clockTime(new Date(began)),
      span.stage === "Done" ? "" : duration(endOf(span, now) - Date.parse(began)) + (span.ended === null ? " so far" : ""),
    ]),
    empty: "",
  };
  return (
    <Picture id="timeline" title="Course of the installation" table={table}>
      <ul className="fl-legend" aria-label="Legend">
        {STAGES.filter((stage) => used.has(stage)).map((stage) => (
          <li key={stage}>
            <svg width="16" height="16" aria-hidden="true">
              <rect width="16" height="16" rx="3" className={colour(stage)} />
            </svg>
            {stage}
          </li>
        ))}
      </ul>
      <div className="fl-gantt">
        <span className="fl-subtle fl-small">Since {clockTime(new Date(scale.from))}</span>
        <Axis scale={scale} />
        {timeline.lanes.map((lane) => (
          <div key={lane.id} className="fl-lane" data-testid={`lane-${lane.name}`}>
            <span className="fl-lane-name">
              <Button variant="link" isInline onClick={() => goWith("host", lane.id)} className="fl-host-name">
                {lane.name}
              </Button>
              <span className="fl-subtle fl-small">{lane.bootstrap ? "Bootstrap" : roleName(lane.role)}</span>
            </span>
            <Bars spans={lane.spans} scale={scale} now={now} label={`${lane.name}: ${lane.spans.map(said).join("; ") || "not begun"}`} said={said} />
          </div>
        ))}
        {timeline.finalizing.length > 0 && (
          <div className="fl-lane" data-testid="lane-finalizing">
            <span className="fl-lane-name">Finalizing</span>
            <Bars spans={timeline.finalizing} scale={scale} now={now} label={`Finalizing: ${timeline.finalizing.map(said).join("; ")}`} said={said} />
          </div>
        )}
      </div>
      {timeline.total > timeline.lanes.length && (
        <p className="fl-subtle">
          {counted(timeline.lanes.length, "host")} of {timeline.total} are drawn.
        </p>
      )}
    </Picture>
  );
}

function colour(stage: string): string {
  const place = STAGES.indexOf(stage);
  return place < 0 ? "fl-span-final" : `fl-span-${place}`;
}

function Axis({ scale }: { readonly scale: Scale }) {
  return (
    <svg width="100%" height={TALL} className="fl-axis" aria-hidden="true">
      {ticks(scale).map(({ at, text }) => (
        <g key={text}>
          <line x1={`${at}%`} x2={`${at}%`} y1={TALL - 5} y2={TALL} />
          {at < 93 && (
            <text x={`${at}%`} y={TALL - 8}>
              {text}
            </text>
          )}
        </g>
      ))}
      <line x1="0" x2="100%" y1={TALL - 0.5} y2={TALL - 0.5} />
    </svg>
  );
}

interface BarsProps {
  readonly spans: readonly Span[];
  readonly scale: Scale;
  readonly now: number;
  readonly label: string;
  readonly said: (span: Span) => string;
}

function Bars({ spans, scale, now, label, said }: BarsProps) {
  return (
    <svg width="100%" height={TALL} role="img" tabIndex={0} aria-label={label} className="fl-bars">
      {ticks(scale).map(({ at, text }) => (
        <line key={text} x1={`${at}%`} x2={`${at}%`} y1="0" y2={TALL} className="fl-guide" />
      ))}
      {spans.map((span) => {
        const [from, to] = [share(scale, Date.parse(span.began)), share(scale, endOf(span, now))];
        if (span.stage === "Done")
          return (
            <g key={span.stage} className="fl-span-done">
              <title>Done</title>
              <circle cx={`${Math.min(from, 99)}%`} cy={TALL / 2} r="5" />
            </g>
          );
        return (
          <rect
            key={`${span.stage} ${span.began}`}
            x={`${from}%`}
            width={`${Math.max(0.3, to - from)}%`}
            y="3"
            height={TALL - 6}
            rx="2"
            className={`${span.failed ? "fl-span-failed" : colour(span.stage)}${span.ended === null ? " fl-lasting" : ""}`}
          >
            <title>{said(span)}</title>
          </rect>
        );
      })}
    </svg>
  );
}
