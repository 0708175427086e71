// What machines boot from: an image to download or a script for the network, and how both are made.
import { Alert, Button, Title } from "@patternfly/react-core";
import { lazy, Suspense, useState } from "react";
import type { Cluster } from "../../api/types";
import { BootLinks } from "../../parts/media/BootLinks";
import { MediaSettings } from "../../parts/media/MediaSettings";
import { SetupWarnings } from "../../parts/SetupWarnings";
import { NewInfraEnv } from "../infra-envs/NewInfraEnv";
import { Waiting } from "../../parts/Waiting";
import type { StepProps } from "./steps";

const StaticNetwork = lazy(() => import("../../parts/static/StaticNetwork"));

export default function MediaStep({ cluster, infraEnv }: StepProps) {
  if (infraEnv === undefined) return <Waiting />;
  if (infraEnv === null) return <NoInfraEnv cluster={cluster} />;
  return (
    <>
      <Title headingLevel="h2">Boot media</Title>
      <p className="fl-subtle">Boot every machine of the cluster from this image or script. It shows up under Hosts by itself.</p>
      <SetupWarnings only="service-unreachable" />
      <SetupWarnings only="images-unreachable" />
      <BootLinks infraEnv={infraEnv} />
      <MediaSettings infraEnv={infraEnv} />
      <Suspense fallback={<Waiting />}>
        <StaticNetwork infraEnv={infraEnv} />
      </Suspense>
    </>
  );
}

function NoInfraEnv({ cluster }: { readonly cluster: Cluster }) {
  const [making, setMaking] = useState(false);
  return (
    <>
      <Title headingLevel="h2">Boot media</Title>
      <Alert isInline variant="info" title="This cluster has no infrastructure environment of its own">
        Bind hosts to it under Infrastructure, or{" "}
        <Button variant="link" isInline id="make-own" onClick={() => setMaking(true)}>
          make one
        </Button>
        .
      </Alert>
      {making && <NewInfraEnv cluster={cluster} onClose={() => setMaking(false)} />}
    </>
  );
}
