// The inventory arrives as text inside the host; hosts write it, so nothing about it is taken for granted.
import type { Host, Inventory } from "../../api/types";

const NOTHING: Inventory = {};

export function inventoryOf(host: Pick<Host, "inventory"> | undefined): Inventory {
  if (!host?.inventory) return NOTHING;
  try {
    const parsed: unknown = JSON.parse(host.inventory);
    return typeof parsed === "object" && parsed !== null ? parsed : NOTHING;
  } catch {
    return NOTHING;
  }
}

/** A list that is kept as text or as comma-separated names. */
export function namesIn(text: string | undefined): readonly string[] {
  return (text ?? "").split(",").map((name) => name.trim()).filter(Boolean);
}
