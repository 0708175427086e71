// How the line to the service is, always in sight.
import { Button, Popover } from "@patternfly/react-core";
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
