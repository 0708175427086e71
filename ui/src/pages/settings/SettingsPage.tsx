// What this service is and how it is set up: read-only, with the setting that changes each thing.
import { Card, CardBody, CardTitle, PageSection, Title } from "@patternfly/react-core";
import { Table, Tbody, Td, Th, Thead, Tr } from "@patternfly/react-table";
import { V2 } from "../../api/http";
import type { OpenshiftVersion } from "../../api/types";
import { useLive } from "../../live/resources";
import { Facts } from "../../parts/Facts";
import { SetupWarnings, useAbout } from "../../parts/SetupWarnings";
import { ImagesCard } from "./ImagesCard";
import { StorageCard } from "./StorageCard";
import { Waiting } from "../../parts/Waiting";
import { spoken } from "../../words";

interface Defaults {
  readonly cluster_network_cidr?: string;
  readonly service_network_cidr?: string;
  readonly ntp_source?: string;
}

export default function SettingsPage() {
  const about = useAbout();
  const defaults = useLive<Defaults>(`${V2}/clusters/default-config`, []).data;
  const parts = useLive<{ readonly versions: Readonly<Record<string, string>> }>(`${V2}/component-versions`, []).data;
  if (!about) return <Waiting />;
  return (
    <>
      <PageSection hasBodyWrapper={false}>
        <Title headingLevel="h1">Settings</Title>
        <p className="fl-subtle">Set in the environment or the settings file of the service, and read when it starts.</p>
        <SetupWarnings />
      </PageSection>
      <PageSection hasBodyWrapper={false} isFilled>
        <div className="fl-grid">
          <Card isCompact>
            <CardTitle component="h2">Service</CardTitle>
            <CardBody>
              <Facts
                facts={[
                  ["Version", `${about.version} ${about.release_tag}`.trim()],
                  ["Hosts call", <code key="url" className="fl-mono">{about.service_url}</code>],
                  ["Images from", <code key="images" className="fl-mono">{about.image_service_url}</code>],
                  ["Authentication", about.auth_type],
                  ["API", <a key="api" href="/api/docs">Documentation</a>],
                  ["For machines", <span key="machines"><a href="/health">Health</a>, <a href="/metrics">metrics</a></span>],
                ]}
              />
            </CardBody>
          </Card>
          <StorageCard about={about} />
          <Card isCompact>
            <CardTitle component="h2">Defaults of new clusters</CardTitle>
            <CardBody>
              <Facts
                facts={[
                  ["Cluster network", defaults?.cluster_network_cidr],
                  ["Service network", defaults?.service_network_cidr],
                  ["NTP source", defaults?.ntp_source],
                ]}
              />
            </CardBody>
          </Card>
          <Card isCompact>
            <CardTitle component="h2">Images hosts run</CardTitle>
            <CardBody>
              <Facts
                facts={Object.entries(parts?.versions ?? {}).map(([name, image]) => [
                  spoken(name),
                  <code key={name} className="fl-mono">{image}</code>,
                ])}
              />
            </CardBody>
          </Card>
          <ImagesCard />
          <VersionsCard />
        </div>
      </PageSection>
    </>
  );
}

function VersionsCard() {
  const versions = useLive<Readonly<Record<string, OpenshiftVersion>>>(`${V2}/openshift-versions`, []).data ?? {};
  return (
    <Card isCompact className="fl-wide">
      <CardTitle component="h2">OpenShift versions</CardTitle>
      <CardBody>
        <Table aria-label="OpenShift versions" variant="compact">
          <Thead>
            <Tr>
              <Th>Version</Th>
              <Th>Support</Th>
              <Th>Architectures</Th>
            </Tr>
          </Thead>
          <Tbody>
            {Object.entries(versions).map(([key, { display_name, support_level, cpu_architectures, default: first }]) => (
              <Tr key={key}>
                <Td dataLabel="Version">
                  {display_name} {first && <span className="fl-subtle fl-small">default</span>}
                </Td>
                <Td dataLabel="Support">{support_level}</Td>
                <Td dataLabel="Architectures">{cpu_architectures.join(", ")}</Td>
              </Tr>
            ))}
          </Tbody>
        </Table>
      </CardBody>
    </Card>
  );
}
