// Hosts of which the same is said, together. Pure.
import type { ProblemCase } from "../../api/own";

/** Cases with fixes stay apart: each fix is for its own host. */
export function groupedCases(cases: readonly ProblemCase[]): readonly (readonly ProblemCase[])[] {
  const groups = new Map<string, ProblemCase[]>();
  cases.forEach((one, index) => {
    const key = one.fixes.length > 0 ? String(index) : JSON.stringify([one.message, one.evidence]);
    const known = groups.get(key);
    if (known) known.push(one);
    else groups.set(key, [one]);
  });
  return [...groups.values()];
}
