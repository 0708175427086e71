// The texts in a fix that people may want to be others. Pure.
import type { Fix } from "../../api/own";

const LABELS: Readonly<Record<string, string>> = {
  host_name: "Name of the host",
  base_dns_domain: "Base domain",
  additional_ntp_source: "NTP sources, separated by commas",
  additional_ntp_sources: "NTP sources, separated by commas",
};

export interface FixText {
  readonly field: string;
  readonly label: string;
  readonly text: string;
}

export function textsIn(fix: Fix): readonly FixText[] {
  return Object.entries(fix.body ?? {}).flatMap(([field, text]) => {
    const label = LABELS[field];
    return label && typeof text === "string" ? [{ field, label, text }] : [];
  });
}

/** Nobody's domain is the one it proposes. */
export const isOnlyAnExample = (fix: Fix): boolean => fix.body?.["base_dns_domain"] === "example.com";

export const withTexts = (fix: Fix, texts: Readonly<Record<string, string>>): Fix => ({ ...fix, body: { ...fix.body, ...texts } });
