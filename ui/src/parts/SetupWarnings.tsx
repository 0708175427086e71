// What about the setup may surprise: told where clusters are made, until it is changed or put away for this visit.
import { Alert, AlertActionCloseButton } from "@patternfly/react-core";
import { useState } from "react";
import { V1 } from "../api/http";
import type { About } from "../api/own";
import { useLive } from "../live/resources";

const KEY = "firstlight.warnings-read";

export const useAbout = (): About | undefined => useLive<About>(`${V1}/about`, []).data;

export function SetupWarnings({ only }: { readonly only?: string }) {
  const about = useAbout();
  const [read, setRead] = useState<readonly string[]>(() => (window.sessionStorage.getItem(KEY) ?? "").split(" "));
  const close = (code: string): void => {
    const after = [...read, code];
    window.sessionStorage.setItem(KEY, after.join(" "));
    setRead(after);
  };
  const shown = (about?.warnings ?? []).filter(({ code }) => (only ? code.startsWith(only) : !read.includes(code)));
  return (
    <>
      {shown.map(({ code, message, setting }) => (
        <Alert
          key={code}
          className="fl-gap-top"
          variant="warning"
          isInline
          title={message}
          {...(only ? {} : { actionClose: <AlertActionCloseButton onClose={() => close(code)} /> })}
        >
          Setting: <code className="fl-mono">{setting}</code>
        </Alert>
      ))}
    </>
  );
}
