// Which disk each host is installed to; the host's drawer has all its disks.
import { Button, Label, Title } from "@patternfly/react-core";
import { Table, Tbody, Td, Th, Thead, Tr } from "@patternfly/react-table";
import { hostsOfCluster, useHosts } from "../../api/reads";
import { ProblemsPanel } from "../../parts/problems/ProblemsPanel";
import { HostState } from "../../parts/Status";
import { Failure, Waiting } from "../../parts/Waiting";
import { storage } from "../../numbers";
import { goWith } from "../../route";
import { roleName } from "../../words";
import { STEPS, type StepProps } from "./steps";

const owns = STEPS.find(({ key }) => key === "storage")?.owns;
const SHOWN = 200;

export default function StorageStep({ cluster }: StepProps) {
  const live = useHosts(hostsOfCluster(cluster.id), { limit: SHOWN });
  if (!live.data) return live.error ? <Failure title="The hosts cannot be listed" live={live} /> : <Waiting />;
  return (
    <>
      <Title headingLevel="h2">Storage</Title>
      <p className="fl-subtle">The installation disk is overwritten. Open a host to choose another disk or to keep contents.</p>
      <Table aria-label="Installation disks" variant="compact">
        <Thead>
          <Tr>
            <Th modifier="nowrap">Host</Th>
            <Th modifier="nowrap">Role</Th>
            <Th modifier="nowrap">Status</Th>
            <Th modifier="nowrap">Disks</Th>
            <Th modifier="nowrap">Storage</Th>
            <Th modifier="nowrap">Installation disk</Th>
          </Tr>
        </Thead>
        <Tbody>
          {live.data.hosts.map((row) => (
            <Tr key={row.id}>
              <Td dataLabel="Host">
                <Button variant="link" isInline onClick={() => goWith("host", row.id)}>
                  {row.name}
                </Button>
              </Td>
              <Td dataLabel="Role">{roleName(row.effective_role)}</Td>
              <Td dataLabel="Status">
                <HostState status={row.status} info={row.status_info} />
              </Td>
              <Td dataLabel="Disks">{row.disks}</Td>
              <Td dataLabel="Storage">{storage(row.disk_bytes)}</Td>
              <Td dataLabel="Installation disk">
                {row.install_disk ? <span className="fl-mono">{row.install_disk}</span> : <Label isCompact color="orange">none fits</Label>}
              </Td>
            </Tr>
          ))}
        </Tbody>
      </Table>
      {live.data.total > SHOWN && <p className="fl-subtle">The first {SHOWN} of {live.data.total} hosts.</p>}
      {owns && <ProblemsPanel clusterId={cluster.id} only={owns} title="Problems of disks" />}
    </>
  );
}
