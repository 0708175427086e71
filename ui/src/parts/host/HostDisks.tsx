// Disks: which one is installed to, which are formatted, and why others cannot be used.
import { Button, Label } from "@patternfly/react-core";
import { changeHost } from "../../api/actions";
import type { Disk, Host, Inventory } from "../../api/types";
import { storage } from "../../numbers";
import { EDITABLE_HOST } from "../../words";
import { Facts } from "../Facts";
import { attempt } from "../notes";
import { DiskBar } from "../../pictures/DiskBar";
import { namesIn } from "./inventory";

export function HostDisks({ host, inventory }: { readonly host: Host; readonly inventory: Inventory }) {
  const disks = [...(inventory.disks ?? [])].sort((a, b) => rank(a, host) - rank(b, host));
  const largest = Math.max(0, ...disks.map(({ size_bytes: bytes }) => bytes ?? 0));
  if (disks.length === 0) return <p className="fl-drawer-tab">The host has not told of any disk yet.</p>;
  return (
    <ul className="fl-cases fl-drawer-tab">
      {disks.map((disk) => (
        <OneDisk key={disk.id} disk={disk} host={host} largest={largest} />
      ))}
    </ul>
  );
}

const rank = (disk: Disk, host: Host): number =>
  disk.id === host.installation_disk_id ? 0 : disk.installation_eligibility?.eligible ? 1 : 2;

function OneDisk({ disk, host, largest }: { readonly disk: Disk; readonly host: Host; readonly largest: number }) {
  const chosen = disk.id === host.installation_disk_id;
  const reasons = disk.installation_eligibility?.not_eligible_reasons ?? [];
  const kept = namesIn(host.skip_formatting_disks).includes(disk.id);
  const formatted = namesIn(host.disks_to_be_formatted).includes(disk.id);
  const editable = EDITABLE_HOST.has(host.status);
  const install = (): void =>
    void attempt(
      () => changeHost(host, { disks_selected_config: [{ id: disk.id, role: "install" }] }),
      "The disk was refused",
      "The installation disk was changed.",
    );
  const keep = (skip_formatting: boolean): void =>
    void attempt(() => changeHost(host, { disks_skip_formatting: [{ disk_id: disk.id, skip_formatting }] }), "It was refused");
  return (
    <li className="fl-case">
      <p className="fl-row">
        <strong className="fl-mono">{disk.path || `/dev/${disk.name ?? ""}`}</strong>
        <span>{storage(disk.size_bytes ?? 0)}</span>
        <Label isCompact variant="outline">
          {disk.drive_type || "unknown"}
        </Label>
        {chosen && <Label isCompact color="blue">Installation disk</Label>}
        {formatted && !kept && <Label isCompact color="orange">Will be formatted</Label>}
        {kept && <Label isCompact color="green">Contents are kept</Label>}
      </p>
      <DiskBar bytes={disk.size_bytes ?? 0} largest={largest} use={chosen ? "installed" : reasons.length === 0 ? "eligible" : "refused"} />
      <Facts
        facts={[
          ["Model", [disk.vendor, disk.model].filter(Boolean).join(" ")],
          ["Serial", disk.serial],
          ["WWN", disk.wwn],
        ]}
      />
      {reasons.length > 0 && (
        <ul className="fl-reasons">
          {reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      )}
      {editable && (
        <div className="fl-row">
          {!chosen && reasons.length === 0 && (
            <Button variant="secondary" size="sm" onClick={install} data-testid="install-here">
              Install here
            </Button>
          )}
          {(formatted || kept) && (
            <Button variant="link" size="sm" onClick={() => keep(!kept)}>
              {kept ? "Format it after all" : "Keep its contents"}
            </Button>
          )}
        </div>
      )}
    </li>
  );
}
