// The course of the installation, a lane per host.
import { useTimeline } from "../../api/pictures";
import { Failure, Waiting } from "../../parts/Waiting";
import { Gantt } from "../../pictures/Gantt";
import type { TabProps } from "./tabs";

export default function TimelineTab({ cluster }: TabProps) {
  const live = useTimeline(cluster.id);
  if (!live.data) return live.error ? <Failure title="The course cannot be shown" live={live} /> : <Waiting />;
  return <Gantt timeline={live.data} />;
}
