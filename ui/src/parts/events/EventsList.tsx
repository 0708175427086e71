// Events, newest first, as they come; filtered by the service.
import { Button, Label, SearchInput, Toolbar, ToolbarContent, ToolbarItem } from "@patternfly/react-core";
import { useEffect, useRef, useState } from "react";
import { useEvents } from "../../api/reads";
import type { ListedEvent } from "../../api/types";
import { useLatest } from "../../live/resources";
import { fullTime, moment } from "../../numbers";
import { goWith } from "../../route";
import { Choice } from "../Choice";
import { Failure, Waiting } from "../Waiting";

const STEP = 50;
const PAUSE = 250;
const SEVERITIES = ["info", "warning", "error", "critical"] as const;
const COLORS = { info: "blue", warning: "yellow", error: "red", critical: "red" } as const;

interface Props {
  readonly tags: readonly string[];
  readonly asked: Readonly<Record<string, string>>;
  /** Offers the way to the host an event is about. */
  readonly withHosts?: boolean;
}

export function EventsList({ tags, asked, withHosts = false }: Props) {
  const [text, setText] = useState("");
  const [message, setMessage] = useState("");
  const [severities, setSeverities] = useState<readonly string[]>([]);
  const [limit, setLimit] = useState(STEP);
  useEffect(() => {
    const timer = window.setTimeout(() => setMessage(text), PAUSE);
    return () => window.clearTimeout(timer);
  }, [text]);
  const live = useEvents(tags, { ...asked, message, severities: severities.join(","), limit });
  const kept = useRef<readonly ListedEvent[] | undefined>(undefined);
  const events = useLatest(live, kept);
  return (
    <>
      <Toolbar inset={{ default: "insetNone" }}>
        <ToolbarContent>
          <ToolbarItem>
            <SearchInput
              aria-label="Find in events"
              placeholder="Find in events"
              value={text}
              onChange={(_, value) => setText(value)}
              onClear={() => setText("")}
            />
          </ToolbarItem>
          <ToolbarItem>
            <Choice
              id="filter-severity"
              label="Severity"
              options={SEVERITIES.map((value) => ({ value, text: value }))}
              chosen={severities}
              onChange={setSeverities}
            />
          </ToolbarItem>
        </ToolbarContent>
      </Toolbar>
      {!events && (live.error ? <Failure title="The events cannot be listed" live={live} /> : <Waiting />)}
      {events?.length === 0 && <p className="fl-subtle">Nothing happened that matches.</p>}
      <ol className="fl-events" aria-label="Events">
        {events?.map((event, index) => (
          <OneEvent key={`${event.event_time} ${event.name} ${event.host_id ?? ""} ${index}`} event={event} withHosts={withHosts} />
        ))}
      </ol>
      {events && events.length >= limit && (
        <Button variant="link" onClick={() => setLimit(limit + STEP)}>
          Show older events
        </Button>
      )}
    </>
  );
}

function OneEvent({ event, withHosts }: { readonly event: ListedEvent; readonly withHosts: boolean }) {
  const at = moment(event.event_time);
  const severity = event.severity as keyof typeof COLORS;
  const hostId = event.host_id;
  return (
    <li className="fl-event">
      <time className="fl-number fl-subtle fl-small" dateTime={event.event_time}>
        {at && fullTime(at)}
      </time>
      <span className="fl-anywhere">
        {event.severity !== "info" && (
          <>
            <Label isCompact color={COLORS[severity]}>
              {event.severity}
            </Label>{" "}
          </>
        )}
        {event.message}
        {withHosts && hostId && (
          <Button variant="link" isInline size="sm" className="fl-event-host" onClick={() => goWith("host", hostId)}>
            Open the host
          </Button>
        )}
      </span>
    </li>
  );
}
