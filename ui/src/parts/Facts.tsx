// Names and values, side by side.
import {
  DescriptionList,
  DescriptionListDescription,
  DescriptionListGroup,
  DescriptionListTerm,
} from "@patternfly/react-core";
import type { ReactNode } from "react";

export type Fact = readonly [string, ReactNode];

/** Facts without a value are left out. */
export function Facts({ facts, columns = 2 }: { readonly facts: readonly Fact[]; readonly columns?: 1 | 2 | 3 }) {
  const shown = facts.filter(([, value]) => value !== undefined && value !== "" && value !== null);
  const width = `${columns}Col` as const;
  return (
    <DescriptionList isCompact columnModifier={{ default: "1Col", sm: columns === 1 ? "1Col" : "2Col", lg: width }}>
      {shown.map(([name, value]) => (
        <DescriptionListGroup key={name}>
          <DescriptionListTerm>{name}</DescriptionListTerm>
          <DescriptionListDescription className="fl-anywhere">{value}</DescriptionListDescription>
        </DescriptionListGroup>
      ))}
    </DescriptionList>
  );
}
