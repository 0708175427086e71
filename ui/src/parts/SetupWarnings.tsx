// What about the setup may surprise: in one line where clusters are listed, in full where it matters.
import { Alert, AlertActionCloseButton } from "@patternfly/react-core";
import { useState } from "react";
import { V1 } from "../api/http";
import type { About } from "../api/own";
import { useLive } from "../live/resources";
import { Link } from "./Link";
import { paths } from "../route";

const KEY = "firstlight.warnings-read";

export const useAbout = (): About | undefined => useLive<About>(`${V1}/about`, []).data;

/** All warnings whose code begins with `only`, each with the setting that changes it. */
export function SetupWarnings({ only = "" }: { readonly only?: string }) {
  const about = useAbout();
  return (
    <>
      {(about?.warnings ?? [])
        .filter(({ code }) => code.startsWith(only))
        .map(({ code, message, setting }) => (
          <Alert key={code} className="fl-gap-top" variant="warning" isInline title={message}>
            Setting: <code className="fl-mono">{setting}</code>
          </Alert>
        ))}
    </>
  );
}

/** Says that there are warnings, until it is put away for this visit. */
export function SetupHint() {
  const about = useAbout();
  const [read, setRead] = useState(() => window.sessionStorage.getItem(KEY) === "yes");
  const close = (): void => {
    window.sessionStorage.setItem(KEY, "yes");
    setRead(true);
  };
  if (read || !about || about.warnings.length === 0) return null;
  const local = about.warnings.some(({ code }) => code.endsWith("unreachable-for-hosts"));
  return (
    <Alert
      className="fl-gap-top"
      variant="warning"
      isInline
      title={local ? "Only this machine can reach the service: real hosts could not call it yet." : (about.warnings[0]?.message ?? "")}
      actionClose={<AlertActionCloseButton onClose={close} />}
    >
      <Link to={paths.settings}>What to change</Link>
    </Alert>
  );
}
