import type { Host } from "../../api/types";
import { hostTag } from "../../live/tags";
import { EventsList } from "../events/EventsList";

export function HostEvents({ host }: { readonly host: Host }) {
  return (
    <div className="fl-drawer-tab">
      <EventsList tags={[hostTag(host.id)]} asked={{ host_id: host.id, infra_env_id: host.infra_env_id }} />
    </div>
  );
}
