// One line for all pages of this browser: it opens a handful of connections to one host, and pages are many.
import { Follower, type Told, type Wish } from "./follower";

const ports = new Set<MessagePort>();
const tellAll = (told: Told): void => {
  for (const port of ports) port.postMessage(told);
};
const follower = new Follower(tellAll);

function join(port: MessagePort): void {
  ports.add(port);
  port.postMessage({ kind: "line", line: follower.line } satisfies Told);
}

(self as unknown as { onconnect: (event: MessageEvent) => void }).onconnect = ({ ports: [port] }) => {
  if (!port) return;
  port.onmessage = ({ data }: MessageEvent<Wish | "join" | "leave">) => {
    if (data === "join") join(port);
    else if (data === "leave") ports.delete(port);
    else follower.do(data);
  };
  join(port);
};
