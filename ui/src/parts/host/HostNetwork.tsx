import { Label } from "@patternfly/react-core";
import { Table, Tbody, Td, Th, Thead, Tr } from "@patternfly/react-table";
import type { Inventory } from "../../api/types";

export function HostNetwork({ inventory }: { readonly inventory: Inventory }) {
  const nics = inventory.interfaces ?? [];
  if (nics.length === 0) return <p className="fl-drawer-tab">The host has not told of any interface yet.</p>;
  return (
    <Table aria-label="Interfaces" variant="compact" className="fl-drawer-tab" gridBreakPoint="grid-lg">
      <Thead>
        <Tr>
          <Th modifier="nowrap">Interface</Th>
          <Th modifier="nowrap">Addresses</Th>
          <Th modifier="nowrap">Speed</Th>
        </Tr>
      </Thead>
      <Tbody>
        {nics.map((nic) => (
          <Tr key={`${nic.name ?? ""} ${nic.mac_address ?? ""}`}>
            <Td dataLabel="Interface">
              {nic.name} {nic.has_carrier === false && <Label isCompact color="orange">no link</Label>}
              <div className="fl-mono fl-subtle fl-small fl-nowrap">{nic.mac_address}</div>
            </Td>
            <Td dataLabel="Addresses" className="fl-mono">
              {[...(nic.ipv4_addresses ?? []), ...(nic.ipv6_addresses ?? [])].map((address) => (
                <div key={address}>{address}</div>
              ))}
            </Td>
            <Td dataLabel="Speed" modifier="nowrap">{nic.speed_mbps && nic.speed_mbps > 0 ? `${nic.speed_mbps / 1000} Gbit/s` : "—"}</Td>
          </Tr>
        ))}
      </Tbody>
    </Table>
  );
}
