// Events, newest first, as they come; filtered by the service. What repeats is one line with a count.
import { Button, Label, SearchInput, Toolbar, ToolbarContent, ToolbarItem } from "@patternfly/react-core";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { useEvents } from "../../api/reads";
import type { ListedEvent } from "../../api/types";
import { useLatest } from "../../live/resources";
import { clockTime, counted, fullTime, moment } from "../../numbers";
import { goWith } from "../../route";
import { Choice } from "../Choice";
import { Failure, Waiting } from "../Waiting";
import { type Repeated, repeated } from "./repeats";

const STEP = 100;
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
  const groups = useMemo(() => repeated(events ?? []), [events]);
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
        {groups.map((group) => (
          <Group key={keyOf(group)} group={group} withHosts={withHosts} />
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

/** Named by its oldest event: newer ones join it. */
function keyOf({ newest, before }: Repeated): string {
  const first = before.at(-1) ?? newest;
  return [first.event_time, first.name, first.host_id, first.message].join(" ");
}

function Group({ group, withHosts }: { readonly group: Repeated; readonly withHosts: boolean }) {
  const [open, setOpen] = useState(false);
  const { newest, before } = group;
  const since = moment(before.at(-1)?.event_time);
  return (
    <>
      <OneEvent event={newest} withHosts={withHosts}>
        {since && (
          <Button variant="link" isInline size="sm" className="fl-event-host" aria-expanded={open} data-testid="repeats" onClick={() => setOpen(!open)}>
            {counted(before.length, "time")} before, since {clockTime(since)}
          </Button>
        )}
      </OneEvent>
      {open && before.map((event, index) => <OneEvent key={index} event={event} withHosts={false} />)}
    </>
  );
}

interface OneProps {
  readonly event: ListedEvent;
  readonly withHosts: boolean;
  readonly children?: ReactNode;
}

function OneEvent({ event, withHosts, children }: OneProps) {
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
        {children}
      </span>
    </li>
  );
}
