// What machines boot from: an image to download or a script for the network, and how both are made.
import { Alert, Button, Title } from "@patternfly/react-core";
import { createInfraEnv } from "../../api/actions";
import { BootLinks } from "../../parts/media/BootLinks";
import { MediaSettings } from "../../parts/media/MediaSettings";
import { attempt } from "../../parts/notes";
import { SetupWarnings } from "../../parts/SetupWarnings";
import type { StepProps } from "./steps";

export default function MediaStep({ cluster, infraEnv }: StepProps) {
  if (!infraEnv) return <NoInfraEnv clusterId={cluster.id} name={cluster.name} />;
  return (
    <>
      <Title headingLevel="h2">Boot media</Title>
      <p className="fl-subtle">Boot every machine of the cluster from this image or script. It shows up under Hosts by itself.</p>
      <SetupWarnings only="service-unreachable" />
      <SetupWarnings only="images-unreachable" />
      <BootLinks infraEnv={infraEnv} />
      <MediaSettings infraEnv={infraEnv} />
    </>
  );
}

function NoInfraEnv({ clusterId, name }: { readonly clusterId: string; readonly name: string }) {
  const make = (): void =>
    void attempt(() => createInfraEnv({ name: `${name}_infra-env`, cluster_id: clusterId, pull_secret: "" }), "It could not be made");
  return (
    <Alert isInline variant="info" title="This cluster has no infrastructure environment of its own">
      Bind hosts to it under Infrastructure, or <Button variant="link" isInline onClick={make}>make one</Button>.
    </Alert>
  );
}
