// Names and values, side by side and dense.
import type { ReactNode } from "react";

export type Fact = readonly [string, ReactNode];

/** Facts without a value are left out. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  const shown = facts.filter(([, value]) => value !== undefined && value !== "" && value !== null);
  return (
    <dl className="fl-facts">
      {shown.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="fl-anywhere">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
