// Where machines come from: pools of hosts, of a cluster or free to be given to one.
import { Button, EmptyState, EmptyStateBody, PageSection, Title } from "@patternfly/react-core";
import ServerIcon from "@patternfly/react-icons/dist/esm/icons/server-icon";
import { Table, Tbody, Td, Th, Thead, Tr } from "@patternfly/react-table";
import { useState } from "react";
import { V1 } from "../../api/http";
import { useInfraEnvs } from "../../api/reads";
import type { ClusterRow } from "../../api/own";
import { useLive } from "../../live/resources";
import { CLUSTERS } from "../../live/tags";
import { Link } from "../../parts/Link";
import { Moment } from "../../parts/Moment";
import { Failure, Waiting } from "../../parts/Waiting";
import { paths } from "../../route";
import { NewInfraEnv } from "./NewInfraEnv";

export default function InfraEnvsPage() {
  const live = useInfraEnvs();
  const clusters = useLive<readonly ClusterRow[]>(`${V1}/clusters`, [CLUSTERS]).data ?? [];
  const names = new Map(clusters.map(({ id, name }) => [id, name]));
  const [making, setMaking] = useState(false);
  return (
    <>
      <PageSection hasBodyWrapper={false}>
        <div className="fl-page-head">
          <div className="fl-grow">
            <Title headingLevel="h1">Infrastructure environments</Title>
          </div>
          <Button variant="secondary" id="create-infra-env" onClick={() => setMaking(true)}>
            Create environment
          </Button>
        </div>
        <p className="fl-subtle">
          Each has an image of its own. Hosts that boot it belong to its cluster, or wait in the pool until they are given to one.
        </p>
      </PageSection>
      <PageSection hasBodyWrapper={false} isFilled>
        {!live.data && (live.error ? <Failure title="The environments cannot be listed" live={live} /> : <Waiting />)}
        {live.data?.length === 0 && (
          <EmptyState headingLevel="h2" titleText="No environment yet" icon={ServerIcon}>
            <EmptyStateBody>
              A new cluster gets one by itself. Make one here to collect hosts first and give them to clusters later.
            </EmptyStateBody>
          </EmptyState>
        )}
        {live.data !== undefined && live.data.length > 0 && (
          <Table aria-label="Infrastructure environments" variant="compact" id="infra-envs">
            <Thead>
              <Tr>
                <Th modifier="nowrap">Name</Th>
                <Th modifier="nowrap">Cluster</Th>
                <Th modifier="nowrap">Version</Th>
                <Th modifier="nowrap">Architecture</Th>
                <Th modifier="nowrap">Image</Th>
                <Th modifier="nowrap">Created</Th>
              </Tr>
            </Thead>
            <Tbody>
              {live.data.map((one) => (
                <Tr key={one.id}>
                  <Td dataLabel="Name" className="fl-anywhere">
                    <Link to={paths.infraEnv(one.id)}>{one.name}</Link>
                  </Td>
                  <Td dataLabel="Cluster">
                    {one.cluster_id ? (
                      <Link to={paths.cluster(one.cluster_id)}>{names.get(one.cluster_id) ?? one.cluster_id}</Link>
                    ) : (
                      "— (pool)"
                    )}
                  </Td>
                  <Td dataLabel="Version">{one.openshift_version || "—"}</Td>
                  <Td dataLabel="Architecture">{one.cpu_architecture}</Td>
                  <Td dataLabel="Image">{one.type === "minimal-iso" ? "Minimal" : "Full"}</Td>
                  <Td dataLabel="Created">
                    <Moment at={one.created_at} />
                  </Td>
                </Tr>
              ))}
            </Tbody>
          </Table>
        )}
      </PageSection>
      {making && <NewInfraEnv onClose={() => setMaking(false)} />}
    </>
  );
}
