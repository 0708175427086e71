// The cluster's network in pictures: who reaches whom, what hangs where, which addresses are free.
import { useNetworkMap } from "../../api/pictures";
import { Failure, Waiting } from "../../parts/Waiting";
import { Graph } from "../../pictures/Graph";
import { Matrix } from "../../pictures/Matrix";
import { SubnetMap } from "../../pictures/SubnetMap";
import type { TabProps } from "./tabs";

export default function NetworkTab({ cluster }: TabProps) {
  const live = useNetworkMap(cluster.id);
  const map = live.data;
  if (!map) return live.error ? <Failure title="The network cannot be shown" live={live} /> : <Waiting />;
  if (map.hosts.length === 0) return <p>Hosts and their networks are drawn here as soon as the first host is there.</p>;
  const networks = [...map.networks].sort((one, other) => Number(other.machine) - Number(one.machine));
  return (
    <div className="fl-stack">
      <Matrix map={map} />
      <Graph map={map} />
      {networks.map((network, number) => (
        <SubnetMap key={network.cidr} cluster={cluster} network={network} number={number} />
      ))}
    </div>
  );
}
