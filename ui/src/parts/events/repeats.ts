// Events of the same kind that came again and again, as one. Pure.
import type { ListedEvent } from "../../api/types";

export interface Repeated {
  readonly newest: ListedEvent;
  /** The same before it, newest first. */
  readonly before: readonly ListedEvent[];
}

/** So many other things may happen to a host in between: what flaps says two or three things in turn. */
const BETWEEN = 4;

/** Words alone tell two kinds apart: what counts up or down is one kind. */
const kindOf = ({ name, severity, message }: ListedEvent): string => `${severity} ${name} ${message.replaceAll(/\d+/g, "0")}`;

/** `events` are newest first, and so are the groups. What happens to others does not part what happens to one host. */
export function repeated(events: readonly ListedEvent[]): readonly Repeated[] {
  const groups: { newest: ListedEvent; before: ListedEvent[]; kind: string }[] = [];
  const lately = new Map<string, typeof groups>();
  for (const event of events) {
    const subject = event.host_id ?? event.infra_env_id ?? "";
    const kind = kindOf(event);
    const mine = lately.get(subject) ?? [];
    const known = mine.find((group) => group.kind === kind);
    if (known) {
      known.before.push(event);
      continue;
    }
    const group = { newest: event, before: [], kind };
    groups.push(group);
    lately.set(subject, [...mine.slice(1 - BETWEEN), group]);
  }
  return groups;
}
