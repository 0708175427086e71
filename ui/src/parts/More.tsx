// More of something, behind a button that says whether it is open.
import { ExpandableSection } from "@patternfly/react-core";
import { type ReactNode, useState } from "react";

export function More({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  const [open, setOpen] = useState(false);
  return (
    <ExpandableSection toggleText={title} isIndented isExpanded={open} onToggle={(_, next) => setOpen(next)}>
      {children}
    </ExpandableSection>
  );
}
