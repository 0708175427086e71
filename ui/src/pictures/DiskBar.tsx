// How large a disk is beside the largest of its host, and whether it can be installed to.
import { storage } from "../numbers";
import "./pictures.css";

export type DiskUse = "installed" | "eligible" | "refused";

const WORDS: Readonly<Record<DiskUse, string>> = {
  installed: "the installation disk",
  eligible: "could be installed to",
  refused: "cannot be installed to",
};

export function DiskBar({ bytes, largest, use }: { readonly bytes: number; readonly largest: number; readonly use: DiskUse }) {
  const share = largest > 0 ? Math.max(1, (bytes / largest) * 100) : 1;
  return (
    <svg width="100%" height="12" role="img" aria-label={`${storage(bytes)}, ${WORDS[use]}`} className={`fl-disk fl-disk-${use}`} data-use={use}>
      <title>{`${storage(bytes)}, ${WORDS[use]}`}</title>
      <rect width="100%" height="12" rx="3" className="fl-disk-room" />
      <rect width={`${share}%`} height="12" rx="3" />
    </svg>
  );
}
