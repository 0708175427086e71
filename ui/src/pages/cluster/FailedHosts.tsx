// Hosts that failed while the rest waits for them, with the ways out; nothing where none did.
import { useProblems } from "../../api/reads";
import type { Problem } from "../../api/own";
import { ProblemsPanel } from "../../parts/problems/ProblemsPanel";

const isFailedHost = ({ category }: Problem): boolean => category === "installation";

export function FailedHosts({ clusterId }: { readonly clusterId: string }) {
  const some = useProblems(clusterId).data?.some(isFailedHost) ?? false;
  if (!some) return null;
  return (
    <div className="fl-wide">
      <ProblemsPanel clusterId={clusterId} only={isFailedHost} title="Failed hosts" purpose="solve" />
    </div>
  );
}
