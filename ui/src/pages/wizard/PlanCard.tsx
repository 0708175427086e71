// What the installation will do to each machine.
import { Button, Card, CardBody, CardTitle, Label } from "@patternfly/react-core";
import { Table, Tbody, Td, Th, Thead, Tr } from "@patternfly/react-table";
import { hostsOfCluster, useHosts } from "../../api/reads";
import type { Cluster } from "../../api/types";
import { goWith } from "../../route";
import { roleName } from "../../words";

const SHOWN = 50;

export function PlanCard({ cluster }: { readonly cluster: Cluster }) {
  const page = useHosts(hostsOfCluster(cluster.id), { sort: "role", limit: SHOWN }).data;
  if (!page || page.total === 0) return null;
  return (
    <Card isCompact id="plan" className="fl-wide">
      <CardTitle component="h2">What will happen to the machines</CardTitle>
      <CardBody className="fl-stack">
        <Table aria-label="Plan of the installation" variant="compact">
          <Thead>
            <Tr>
              <Th modifier="nowrap">Host</Th>
              <Th modifier="nowrap">Becomes</Th>
              <Th modifier="nowrap">Is overwritten</Th>
              <Th modifier="nowrap">Other disks</Th>
            </Tr>
          </Thead>
          <Tbody>
            {page.hosts.map((row) => (
              <Tr key={row.id}>
                <Td dataLabel="Host">
                  <Button variant="link" isInline onClick={() => goWith("host", row.id)}>
                    {row.name}
                  </Button>
                </Td>
                <Td dataLabel="Becomes">{roleName(row.effective_role)}</Td>
                <Td dataLabel="Is overwritten">
                  {row.install_disk ? <span className="fl-mono">{row.install_disk}</span> : <Label isCompact color="orange">no disk fits</Label>}
                </Td>
                <Td dataLabel="Other disks">{Math.max(0, row.disks - (row.install_disk ? 1 : 0)) || "—"}</Td>
              </Tr>
            ))}
          </Tbody>
        </Table>
        {page.total > SHOWN && <p className="fl-subtle">The first {SHOWN} of {page.total} hosts.</p>}
        <p className="fl-subtle fl-small">
          Other disks that hold data are formatted when they could hinder the installation; the host says which under Disks, and keeps them if you ask.
        </p>
      </CardBody>
    </Card>
  );
}
