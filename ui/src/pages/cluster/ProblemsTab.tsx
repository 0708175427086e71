import { ProblemsPanel } from "../../parts/problems/ProblemsPanel";
import type { TabProps } from "./tabs";

export default function ProblemsTab({ cluster }: TabProps) {
  return <ProblemsPanel clusterId={cluster.id} />;
}
