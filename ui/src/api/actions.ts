// What people do, as calls: one function per verb.
import { call, SESSION, V1, V2 } from "./http";
import type { Fix, HostChange, HostChangeResult } from "./own";
import type { Cluster, Host, InfraEnv } from "./types";

type Fields = Readonly<Record<string, unknown>>;

export interface HostKey {
  readonly id: string;
  readonly infra_env_id: string;
}

const cluster = (id: string): string => `${V2}/clusters/${id}`;
const infraEnv = (id: string): string => `${V2}/infra-envs/${id}`;
const host = ({ infra_env_id, id }: HostKey): string => `${infraEnv(infra_env_id)}/hosts/${id}`;

export const createCluster = (body: Fields): Promise<Cluster> => call("POST", `${V2}/clusters`, { body });
export const changeCluster = (id: string, body: Fields): Promise<Cluster> => call("PATCH", cluster(id), { body });
export const deleteCluster = (id: string): Promise<void> => call("DELETE", cluster(id));
export const actOnCluster = (id: string, action: "install" | "cancel" | "reset" | "allow-add-hosts"): Promise<Cluster> =>
  call("POST", `${cluster(id)}/actions/${action}`);

export const createInfraEnv = (body: Fields): Promise<InfraEnv> => call("POST", `${V2}/infra-envs`, { body });
export const changeInfraEnv = (id: string, body: Fields): Promise<InfraEnv> => call("PATCH", infraEnv(id), { body });
export const deleteInfraEnv = (id: string): Promise<void> => call("DELETE", infraEnv(id));
export const renewImageUrl = (id: string): Promise<{ readonly url: string; readonly expires_at: string }> =>
  call("GET", `${infraEnv(id)}/downloads/image-url`);
export const renewScriptUrl = (id: string): Promise<{ readonly url: string; readonly expires_at: string }> =>
  call("GET", `${infraEnv(id)}/downloads/files-presigned?file_name=ipxe-script`);

export const changeHost = (key: HostKey, body: Fields): Promise<Host> => call("PATCH", host(key), { body });
export const deleteHost = (key: HostKey): Promise<void> => call("DELETE", host(key));
export const bindHost = (key: HostKey, cluster_id: string): Promise<Host> =>
  call("POST", `${host(key)}/actions/bind`, { body: { cluster_id } });
export const actOnHost = (key: HostKey, action: "unbind" | "reset" | "install"): Promise<Host> =>
  call("POST", `${host(key)}/actions/${action}`);

/** A failed host of an installation that still goes on. */
export const retryHost = ({ infra_env_id, id }: HostKey): Promise<unknown> =>
  call("POST", `${V1}/infra-envs/${infra_env_id}/hosts/${id}/actions/retry`);
export const replaceHost = ({ infra_env_id, id }: HostKey, by: HostKey): Promise<{ readonly name: string }> =>
  call("POST", `${V1}/infra-envs/${infra_env_id}/hosts/${id}/actions/replace`, {
    body: { host_id: by.id, infra_env_id: by.infra_env_id },
  });

export const changeHosts = (body: HostChange): Promise<HostChangeResult> => call("POST", `${V1}/host-changes`, { body });
export const checkAgain = (id: string, body: Fields): Promise<{ readonly hosts: number }> =>
  call("POST", `${V1}/clusters/${id}/actions/check`, { body });
export const waive = (id: string, scope: string, check: string, reason: string): Promise<void> =>
  call("PUT", `${V1}/clusters/${id}/waivers/${scope}/${check}`, { body: { reason } });
export const restore = (id: string, scope: string, check: string): Promise<void> =>
  call("DELETE", `${V1}/clusters/${id}/waivers/${scope}/${check}`);

export const logIn = (token: string): Promise<void> => call("POST", SESSION, { body: { token } });
export const logOut = (): Promise<void> => call("DELETE", SESSION);

/** A fix is sent as it is. Only paths of this service are: nothing a finding says can reach another host. */
export function applyFix(fix: Fix): Promise<unknown> {
  if (!fix.path.startsWith("/api/")) throw new Error("This fix does not name a request to the service.");
  return call(fix.method, fix.path, fix.body === null ? {} : { body: fix.body });
}

export const files = {
  credentials: (id: string, name: string): string => `${cluster(id)}/downloads/credentials?file_name=${name}`,
  file: (id: string, name: string): string => `${cluster(id)}/downloads/files?file_name=${name}`,
  logs: (id: string): string => `${cluster(id)}/logs?logs_type=all`,
  controllerLogs: (id: string): string => `${cluster(id)}/logs?logs_type=controller`,
  hostLogs: (id: string, hostId: string): string => `${cluster(id)}/logs?logs_type=host&host_id=${hostId}`,
};
