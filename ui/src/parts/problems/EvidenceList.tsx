// What was measured, by name; by whom and when is told beside it (Measured).
import type { Evidence } from "../../api/own";
import { memory, moment, shortTime } from "../../numbers";
import { named } from "../../words";

export function EvidenceList({ evidence }: { readonly evidence: Evidence }) {
  const entries = Object.entries(evidence).filter(
    ([name, value]) => name !== "measured_by" && !(Array.isArray(value) && value.every(isId)),
  );
  if (entries.length === 0) return null;
  return (
    <dl className="fl-evidence">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{named(name.replace(UNIT, ""))}</dt>
          <dd className="fl-mono">
            {linesOf(name, value).map((line, index) => (
              <div key={index}>{line}</div>
            ))}
          </dd>
        </div>
      ))}
    </dl>
  );
}

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Ids of hosts say nothing to a person; the sentence has their names. */
const isId = (value: unknown): boolean => typeof value === "string" && ID.test(value);

const UNITS: Readonly<Record<string, string>> = { mib: "MiB", gb: "GB", ms: "ms", seconds: "s", minutes: "min", percent: "%" };
/** Names of values end with their unit; their times with `_at`. */
const UNIT = /_(bytes|mib|gb|ms|seconds|minutes|percent|at)$/;
const SENTENCE = /\.$/;

/** A list of sentences has a line for each; a list of words is one. */
export function linesOf(name: string, value: Evidence[string] | undefined): readonly string[] {
  if (typeof value === "object" && value !== null && value.some((one) => SENTENCE.test(one))) return value;
  return [shown(name, value)];
}

function shown(name: string, value: Evidence[string] | undefined): string {
  if (value === null || value === undefined || value === "") return "—";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "object") return value.length > 0 ? value.join(", ") : "none";
  const unit = UNIT.exec(name)?.[1] ?? "";
  if (typeof value === "string") {
    const at = unit === "at" ? moment(value) : null;
    return at ? shortTime(at) : value;
  }
  if (unit === "bytes") return memory(value);
  return UNITS[unit] ? `${value} ${UNITS[unit]}` : String(value);
}
