import { fullTime, moment, shortTime } from "../numbers";

/** A time in the reader's zone, to the second on hover; a dash where there is none. */
export function Moment({ at }: { readonly at: string | null | undefined }) {
  const date = moment(at);
  if (!date) return <>—</>;
  return (
    <time dateTime={date.toISOString()} title={fullTime(date)}>
      {shortTime(date)}
    </time>
  );
}
