// A finding's fix: the request it carries, behind a button that says what it does.
import { Button } from "@patternfly/react-core";
import WrenchIcon from "@patternfly/react-icons/dist/esm/icons/wrench-icon";
import { useState } from "react";
import { applyFix } from "../../api/actions";
import type { Fix } from "../../api/own";
import { attempt } from "../notes";

export function FixButton({ fix }: { readonly fix: Fix }) {
  const [busy, setBusy] = useState(false);
  const apply = async (): Promise<void> => {
    setBusy(true);
    await attempt(() => applyFix(fix), "The fix was refused", `${fix.title}: done.`);
    setBusy(false);
  };
  return (
    <Button
      variant="secondary"
      size="sm"
      icon={<WrenchIcon />}
      isLoading={busy}
      isDisabled={busy}
      data-testid="fix"
      className="fl-wrap"
      onClick={() => void apply()}
    >
      {fix.title}
    </Button>
  );
}
