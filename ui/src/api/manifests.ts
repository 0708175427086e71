// Manifests that users bring to a cluster.
import { call, callText, query, V2 } from "./http";
import type { Manifest } from "./types";

export const manifestsOf = (clusterId: string): string => `${V2}/clusters/${clusterId}/manifests`;

type Name = Pick<Manifest, "folder" | "file_name">;

export const manifestText = (clusterId: string, { folder, file_name }: Name): Promise<string> =>
  callText(`${manifestsOf(clusterId)}/files${query({ folder, file_name })}`);

export const createManifest = (clusterId: string, { folder, file_name }: Name, text: string): Promise<Manifest> =>
  call("POST", manifestsOf(clusterId), { body: { folder, file_name, content: asBase64(text) } });

export const changeManifest = (clusterId: string, before: Name, after: Name, text: string): Promise<Manifest> =>
  call("PATCH", manifestsOf(clusterId), {
    body: {
      folder: before.folder,
      file_name: before.file_name,
      updated_folder: after.folder,
      updated_file_name: after.file_name,
      updated_content: asBase64(text),
    },
  });

export const deleteManifest = (clusterId: string, { folder, file_name }: Name): Promise<void> =>
  call("DELETE", `${manifestsOf(clusterId)}${query({ folder, file_name })}`);

/** The bytes of the text in UTF-8, as the API takes them. */
export function asBase64(text: string): string {
  let bytes = "";
  for (const byte of new TextEncoder().encode(text)) bytes += String.fromCharCode(byte);
  return btoa(bytes);
}
