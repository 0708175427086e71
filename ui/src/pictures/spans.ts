// Times of stages as shares of a whole. Pure.
import type { Span, Timeline } from "../api/pictures";

export interface Scale {
  readonly from: number;
  readonly to: number;
}

const MINUTE = 60_000;
/** Distances of marks that people count in. */
const STEPS = [1_000, 5_000, 15_000, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE, 60 * MINUTE, 120 * MINUTE, 360 * MINUTE, 1440 * MINUTE];
const MOST_TICKS = 8;

export function scaleOf(timeline: Timeline, now: number): Scale | null {
  const spans = [...timeline.lanes.flatMap(({ spans: own }) => own), ...timeline.finalizing];
  if (spans.length === 0) return null;
  const began = [...(timeline.began ? [timeline.began] : []), ...spans.map((span) => span.began)].map(Date.parse);
  const ended = spans.map(({ ended: end }) => (end === null ? now : Date.parse(end)));
  const from = Math.min(...began);
  return { from, to: Math.max(from + 1_000, ...ended, ...(timeline.ended ? [Date.parse(timeline.ended)] : [])) };
}

export const share = (scale: Scale, time: number): number =>
  Math.min(100, Math.max(0, ((time - scale.from) / (scale.to - scale.from)) * 100));

export const endOf = (span: Span, now: number): number => (span.ended === null ? now : Date.parse(span.ended));

export interface Tick {
  readonly at: number;
  readonly text: string;
}

/** Marks counted from the beginning, in steps people use. */
export function ticks(scale: Scale): readonly Tick[] {
  const whole = scale.to - scale.from;
  const step = STEPS.find((one) => whole / one <= MOST_TICKS) ?? Math.ceil(whole / MOST_TICKS);
  return Array.from({ length: Math.floor(whole / step) + 1 }, (_, index) => ({
    at: (index * step * 100) / whole,
    text: clock(index * step),
  }));
}

function clock(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  return `${Math.floor(seconds / 3600)} h ${String(Math.floor(seconds / 60) % 60).padStart(2, "0")}`;
}
