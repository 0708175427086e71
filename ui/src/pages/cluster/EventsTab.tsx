import { EventsList } from "../../parts/events/EventsList";
import { clusterTag } from "../../live/tags";
import type { TabProps } from "./tabs";

export default function EventsTab({ cluster }: TabProps) {
  return <EventsList tags={[clusterTag(cluster.id)]} asked={{ cluster_id: cluster.id }} withHosts />;
}
