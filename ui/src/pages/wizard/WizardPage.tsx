// Setting a cluster up, step by step. Every change is saved as it is made; steps can be visited in any order.
import { Breadcrumb, BreadcrumbItem, Button, PageSection, Title, Wizard, WizardFooterWrapper, WizardStep, useWizardContext } from "@patternfly/react-core";
import { Suspense } from "react";
import { useCluster, useInfraEnvsOf, useProblems } from "../../api/reads";
import type { Problem } from "../../api/own";
import type { Cluster, InfraEnv } from "../../api/types";
import { ClusterState } from "../../parts/Status";
import { Failure, Waiting } from "../../parts/Waiting";
import { follow, go, paths } from "../../route";
import { DRAFT } from "../../words";
import { ClusterDrawer } from "../cluster/ClusterPage";
import { firstOpenStep, STEPS } from "./steps";

export default function WizardPage({ id, step }: { readonly id: string; readonly step: string }) {
  const live = useCluster(id);
  const problems = useProblems(id).data;
  const infraEnvs = useInfraEnvsOf(id);
  const host = new URLSearchParams(window.location.search).get("host") ?? "";
  const cluster = live.data;
  if (!cluster || (step === "" && problems === undefined)) {
    return live.error ? <Failure title="The cluster cannot be shown" live={live} /> : <Waiting />;
  }
  const key = step || firstOpenStep(problems, cluster.total_host_count ?? 0);
  return (
    <ClusterDrawer cluster={cluster} host={host}>
      <PageSection hasBodyWrapper={false} className="fl-head-section">
        <Breadcrumb>
          <BreadcrumbItem to={paths.clusters} onClick={follow}>
            Clusters
          </BreadcrumbItem>
          <BreadcrumbItem to={paths.cluster(id)} onClick={follow}>
            {cluster.name}
          </BreadcrumbItem>
          <BreadcrumbItem isActive>Setup</BreadcrumbItem>
        </Breadcrumb>
        <div className="fl-page-head">
          <Title headingLevel="h1">Set up {cluster.name}</Title>
          <ClusterState status={cluster.status} info={cluster.status_info} />
        </div>
        {!DRAFT.has(cluster.status) && <p className="fl-subtle">The installation has begun; the settings can no longer be changed.</p>}
      </PageSection>
      <PageSection hasBodyWrapper={false} isFilled padding={{ default: "noPadding" }} type="wizard">
        <Steps key={step ? "chosen" : "first"} cluster={cluster} infraEnv={infraEnvs.data && (infraEnvs.data[0] ?? null)} problems={problems ?? []} present={key} host={host} />
      </PageSection>
    </ClusterDrawer>
  );
}

interface StepsProps {
  readonly cluster: Cluster;
  readonly infraEnv: InfraEnv | null | undefined;
  readonly problems: readonly Problem[];
  readonly present: string;
  readonly host: string;
}

function Steps({ cluster, infraEnv, problems, present, host }: StepsProps) {
  const index = Math.max(0, STEPS.findIndex(({ key }) => key === present));
  const open = problems.filter(({ blocking, waived, status }) => blocking && !waived && status === "failure");
  return (
    <Wizard
      startIndex={index + 1}
      height="auto"
      isVisitRequired={false}
      navAriaLabel="Steps of the setup"
      onStepChange={(_, next) => go(paths.wizard(cluster.id, String(next.id)), { replace: true })}
      footer={<StepFooter clusterId={cluster.id} />}
    >
      {STEPS.map(({ key, name, Body, owns }) => (
        <WizardStep key={key} id={key} name={name} status={open.some(owns) ? "error" : "default"}>
          <Suspense fallback={<Waiting />}>
            <div className="fl-stack" data-testid={`step-${key}`}>
              <Body cluster={cluster} infraEnv={infraEnv} host={host} />
            </div>
          </Suspense>
        </WizardStep>
      ))}
    </Wizard>
  );
}

function StepFooter({ clusterId }: { readonly clusterId: string }) {
  const { activeStep, goToNextStep, goToPrevStep, steps } = useWizardContext();
  const last = steps[steps.length - 1]?.id === activeStep.id;
  return (
    <WizardFooterWrapper>
      <div className="fl-row">
        <Button variant="secondary" isDisabled={activeStep.index === 1} onClick={() => void goToPrevStep()}>
          Back
        </Button>
        {!last && (
          <Button id="next" onClick={() => void goToNextStep()}>
            Next
          </Button>
        )}
        <Button component="a" variant="link" href={paths.cluster(clusterId)} onClick={follow}>
          Leave the setup
        </Button>
      </div>
    </WizardFooterWrapper>
  );
}
