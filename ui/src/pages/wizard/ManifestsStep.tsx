import { Title } from "@patternfly/react-core";
import { ManifestsCard } from "../../parts/manifests/ManifestsCard";
import { ProblemsPanel } from "../../parts/problems/ProblemsPanel";
import { STEPS, type StepProps } from "./steps";

const owns = STEPS.find(({ key }) => key === "manifests")?.owns;

export default function ManifestsStep({ cluster }: StepProps) {
  return (
    <>
      <Title headingLevel="h2">Custom manifests</Title>
      <ManifestsCard cluster={cluster} />
      {owns && <ProblemsPanel clusterId={cluster.id} only={owns} title="Problems of manifests" />}
    </>
  );
}
