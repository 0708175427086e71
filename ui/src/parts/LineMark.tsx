// How the line to the service is, always in sight.
import { Alert, Button, Popover } from "@patternfly/react-core";
import { useEffect, useState } from "react";
import { clockTime } from "../numbers";
import { useLine } from "../live/useLine";

const WORDS = {
  live: ["Live", "Changes appear here as they happen."],
  connecting: ["Connecting", "The page is getting through to the service."],
  lost: [
    "Reconnecting",
    "The line to the service is cut. What you see may be old; the page comes back by itself and catches up.",
  ],
} as const;

const PATIENCE = 2_000;

/** Says across the page that it may be old, when the line has been cut for more than a moment. */
export function LineBanner() {
  const { state, heardAt } = useLine();
  const [late, setLate] = useState(false);
  useEffect(() => {
    if (state !== "lost") {
      setLate(false);
      return undefined;
    }
    const timer = window.setTimeout(() => setLate(true), PATIENCE);
    return () => window.clearTimeout(timer);
  }, [state]);
  if (!late) return null;
  return (
    <Alert isInline variant="warning" className="fl-line-banner" title="The line to the service is cut" data-testid="line-banner" isLiveRegion>
      {heardAt > 0 ? `What you see is from ${clockTime(new Date(heardAt))}. ` : ""}The page keeps trying and catches up by itself.
    </Alert>
  );
}

export function LineMark() {
  const line = useLine();
  const [word, text] = WORDS[line.state];
  return (
    <Popover
      aria-label="Connection"
      headerContent={word}
      bodyContent={
        <>
          <p>{text}</p>
          {line.heardAt > 0 && <p>Last heard of the service at {clockTime(new Date(line.heardAt))}.</p>}
        </>
      }
    >
      <Button variant="plain" aria-label={`Connection: ${word}`} data-testid="line" data-state={line.state}>
        <span className={`fl-line fl-line-${line.state}`}>
          <span className="fl-dot" />
          <span className="fl-line-word" role="status">
            {word}
          </span>
        </span>
      </Button>
    </Popover>
  );
}
