// Sizes, times and counts as people read them.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
const DISK_UNITS = ["B", "kB", "MB", "GB", "TB", "PB"];

/** Memory, in powers of 1024. */
export const memory = (bytes: number): string => scaled(bytes, 1024, UNITS);

/** Disks, in powers of 1000, as their makers count. */
export const storage = (bytes: number): string => scaled(bytes, 1000, DISK_UNITS);

function scaled(bytes: number, step: number, units: readonly string[]): string {
  if (!bytes) return "—";
  let value = bytes;
  let unit = 0;
  while (value >= step && unit < units.length - 1) {
    value /= step;
    unit += 1;
  }
  const text = value >= 100 || Number.isInteger(value) ? Math.round(value).toString() : value.toFixed(1).replace(/\.0$/, "");
  return `${text} ${units[unit] ?? ""}`;
}

/** The API's year 1 means never. */
export function moment(text: string | null | undefined): Date | null {
  if (!text || text.startsWith("0001-")) return null;
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? null : date;
}

const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const SHORT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

export const fullTime = (date: Date): string => FULL.format(date);
export const shortTime = (date: Date): string => SHORT.format(date);
export const clockTime = (date: Date): string => CLOCK.format(date);

export function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} days`;
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}
