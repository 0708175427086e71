import { Button } from "@patternfly/react-core";
import { files } from "../../api/actions";
import type { Host, Inventory } from "../../api/types";
import { counted, memory, moment } from "../../numbers";
import { roleName } from "../../words";
import { Facts } from "../Facts";
import { Moment } from "../Moment";
import { HostEdit } from "./HostEdit";
import { HostStages } from "./HostStages";

/** What the tools of machines without one say. */
const NO_BMC = "0.0.0.0";

export function HostSummary({ host, inventory }: { readonly host: Host; readonly inventory: Inventory }) {
  const { cpu, system_vendor: vendor, boot } = inventory;
  return (
    <div className="fl-stack fl-drawer-tab">
      {host.status_info && <p className="fl-anywhere">{host.status_info}</p>}
      {host.progress?.current_stage && <HostStages host={host} />}
      <HostEdit host={host} inventory={inventory} />
      <Facts
        facts={[
          ["Role", roleName(host.role === "auto-assign" ? (host.suggested_role ?? "auto-assign") : (host.role ?? ""))],
          ["Machine", [vendor?.manufacturer, vendor?.product_name].filter(Boolean).join(" ")],
          ["Serial number", vendor?.serial_number],
          ["Virtual", vendor?.virtual ? "yes" : ""],
          ["Processor", cpu?.count ? `${counted(cpu.count, "core")}, ${cpu.model_name ?? ""} ${cpu.architecture ?? ""}` : ""],
          ["Memory", inventory.memory?.physical_bytes ? memory(inventory.memory.physical_bytes) : ""],
          ["GPUs", (inventory.gpus ?? []).map(({ vendor: maker, name }) => `${maker ?? ""} ${name ?? ""}`).join(", ")],
          ["Boot mode", boot?.current_boot_mode],
          ["PXE interface", boot?.pxe_interface],
          ["BMC address", inventory.bmc_address === NO_BMC ? "" : inventory.bmc_address],
          ["TPM", inventory.tpm_version],
          ["Agent", <code key="agent" className="fl-mono">{host.discovery_agent_version || "—"}</code>],
          ["Discovered", <Moment key="registered" at={host.registered_at} />],
          ["Last heard of", <Moment key="heard" at={host.checked_in_at} />],
          ["Id", <code key="id" className="fl-mono">{host.id}</code>],
        ]}
      />
      {host.cluster_id && moment(host.logs_collected_at) && (
        <Button component="a" variant="link" isInline href={files.hostLogs(host.cluster_id, host.id)}>
          Download logs
        </Button>
      )}
    </div>
  );
}
