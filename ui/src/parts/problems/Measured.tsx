// Who measured, when, and when they do it again.
import { useEffect, useMemo, useState } from "react";
import type { Finding, NextCheck } from "../../api/own";
import { clockTime, moment } from "../../numbers";

type Known = Pick<Finding, "evidence" | "measured_at" | "next_check">;

export function Measured({ finding }: { readonly finding: Known }) {
  const date = moment(finding.measured_at);
  const next = finding.next_check;
  if (!date && !next) return null;
  const who = finding.evidence["measured_by"];
  return (
    <p className="fl-subtle fl-small">
      {date && `Measured by ${typeof who === "string" ? who : "the host's agent"} at ${clockTime(date)}. `}
      {next && <Countdown next={next} />}
    </p>
  );
}

function Countdown({ next }: { readonly next: NextCheck }) {
  const answered = useMemo(() => ({ next, at: Date.now() }), [next]);
  const [now, setNow] = useState(answered.at);
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), 1_000);
    return () => window.clearInterval(timer);
  }, []);
  return <span data-testid="next-check">Next check in {secondsLeft(next, now - answered.at)} s.</span>;
}

/** A host that calls and measures the same changes nothing here: it is expected after the usual time once more. */
export function secondsLeft({ after, every }: NextCheck, passed: number): number {
  const seconds = Math.floor(Math.max(0, passed) / 1_000);
  return seconds < after ? after - seconds : every - ((seconds - after) % every);
}
