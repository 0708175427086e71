// A finding's fix: the request it carries, behind a button that says what it does. Where it contains a text that people
// may want to be another, they can change it first.
import { Button } from "@patternfly/react-core";
import PencilAltIcon from "@patternfly/react-icons/dist/esm/icons/pencil-alt-icon";
import WrenchIcon from "@patternfly/react-icons/dist/esm/icons/wrench-icon";
import { useState } from "react";
import { applyFix } from "../../api/actions";
import type { Fix } from "../../api/own";
import { attempt } from "../notes";
import { FixDialog } from "./FixDialog";
import { isOnlyAnExample, textsIn } from "./fixes";

export function FixButton({ fix }: { readonly fix: Fix }) {
  const [busy, setBusy] = useState(false);
  const [changing, setChanging] = useState(false);
  const apply = async (): Promise<void> => {
    setBusy(true);
    await attempt(() => applyFix(fix), "The fix was refused", `${fix.title}: done.`);
    setBusy(false);
  };
  const example = isOnlyAnExample(fix);
  return (
    <span className="fl-row fl-fix">
      <Button
        variant="secondary"
        size="sm"
        icon={<WrenchIcon />}
        isLoading={busy}
        isDisabled={busy}
        data-testid="fix"
        className="fl-wrap"
        onClick={() => (example ? setChanging(true) : void apply())}
      >
        {example ? "Set a base domain…" : fix.title}
      </Button>
      {!example && textsIn(fix).length > 0 && (
        <Button
          variant="plain"
          size="sm"
          icon={<PencilAltIcon />}
          aria-label={`${fix.title}, or something else`}
          title="Something else"
          data-testid="fix-other"
          onClick={() => setChanging(true)}
        />
      )}
      {changing && <FixDialog fix={fix} onClose={() => setChanging(false)} />}
    </span>
  );
}
