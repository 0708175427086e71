// One manifest: where it goes, its name and its text. What the service refuses stays beside what was typed.
import { FormGroup, FormSelect, FormSelectOption } from "@patternfly/react-core";
import { useEffect, useState } from "react";
import { sentence } from "../../api/http";
import { changeManifest, createManifest, manifestText } from "../../api/manifests";
import type { Manifest } from "../../api/types";
import { Dialog } from "../Dialog";
import { Field } from "../Field";

const FOLDERS = [
  ["manifests", "manifests (applied early)"],
  ["openshift", "openshift (applied with OpenShift's own)"],
] as const;

interface Props {
  readonly clusterId: string;
  /** Undefined for a new one. */
  readonly manifest: Manifest | undefined;
  readonly readOnly: boolean;
  readonly onClose: () => void;
}

export function ManifestDialog({ clusterId, manifest, readOnly, onClose }: Props) {
  const [folder, setFolder] = useState(manifest?.folder ?? "manifests");
  const [name, setName] = useState(manifest?.file_name ?? "");
  const [text, setText] = useState("");
  const [failure, setFailure] = useState("");
  const [loading, setLoading] = useState(manifest !== undefined);
  useEffect(() => {
    if (!manifest) return;
    manifestText(clusterId, manifest).then(
      (found) => {
        setText(found);
        setLoading(false);
      },
      (refusal: unknown) => setFailure(sentence(refusal)),
    );
  }, [clusterId, manifest]);
  const save = (): Promise<unknown> => {
    const after = { folder, file_name: name.trim() };
    return manifest ? changeManifest(clusterId, manifest, after, text) : createManifest(clusterId, after, text);
  };
  const upload = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    setText(await file.text());
    if (name === "") setName(file.name);
  };
  return (
    <Dialog
      id="manifest-save"
      title={manifest ? manifest.file_name : "Add a manifest"}
      action={readOnly ? "" : "Save"}
      size="large"
      ready={!loading && name.trim() !== "" && text.trim() !== ""}
      wrong={failure}
      onAct={save}
      onClose={onClose}
    >
      <FormGroup label="Folder" fieldId="manifest-folder">
        <FormSelect id="manifest-folder" value={folder} isDisabled={readOnly} onChange={(_, value) => setFolder(value)}>
          {FOLDERS.map(([value, label]) => (
            <FormSelectOption key={value} value={value} label={label} />
          ))}
        </FormSelect>
      </FormGroup>
      <Field id="manifest-name" label="File name" required disabled={readOnly} value={name} onChange={setName} help="Ends with .yaml, .yml or .json." placeholder="50-worker-kernel-args.yaml" />
      {!readOnly && (
        <FormGroup label="From a file" fieldId="manifest-file">
          <input id="manifest-file" type="file" accept=".yaml,.yml,.json,.patch" onChange={(event) => void upload(event.target.files?.[0])} />
        </FormGroup>
      )}
      <Field id="manifest-text" label="Content" required secret rows={14} disabled={readOnly} value={text} onChange={setText} />
    </Dialog>
  );
}
