// What the discovery image contains; each field is saved as it is left.
import { Alert, Card, CardBody, CardTitle, Form, FormGroup, Radio } from "@patternfly/react-core";
import { changeInfraEnv } from "../../api/actions";
import type { InfraEnv } from "../../api/types";
import { SavedField } from "../Field";
import { attempt } from "../notes";

const TYPES = [
  ["full-iso", "Full image", "About 1 GB. Boots without the network; best for virtual media over a fast line."],
  ["minimal-iso", "Minimal image", "About 100 MB. Fetches the rest while it boots; best for slow virtual media."],
] as const;

export function MediaSettings({ infraEnv }: { readonly infraEnv: InfraEnv }) {
  const change = (fields: Readonly<Record<string, unknown>>): Promise<InfraEnv> => changeInfraEnv(infraEnv.id, fields);
  const proxy = infraEnv.proxy ?? {};
  const setProxy = (field: "http_proxy" | "https_proxy" | "no_proxy") => (value: string) =>
    change({ proxy: { ...proxy, [field]: value } });
  return (
    <Card isCompact>
      <CardTitle component="h3">What the image contains</CardTitle>
      <CardBody>
        <Form className="fl-narrow" onSubmit={(event) => event.preventDefault()}>
          <FormGroup label="Image" role="radiogroup" fieldId="image-type">
            {TYPES.map(([value, label, description]) => (
              <Radio
                key={value}
                id={`image-${value}`}
                name="image-type"
                label={label}
                description={description}
                isChecked={infraEnv.type === value}
                onChange={() => void attempt(() => change({ image_type: value }), "The image type was refused")}
              />
            ))}
          </FormGroup>
          <SavedField
            id="media-ssh"
            label="SSH public key"
            rows={2}
            value={infraEnv.ssh_authorized_key ?? ""}
            onSave={(value) => change({ ssh_authorized_key: value })}
            help="Lets you log in as core while a machine is being discovered."
          />
          <SavedField
            id="media-ntp"
            label="NTP sources"
            value={infraEnv.additional_ntp_sources ?? ""}
            onSave={(value) => change({ additional_ntp_sources: value })}
            placeholder="ntp.example.com"
          />
          <SavedField id="http-proxy" label="HTTP proxy" value={proxy.http_proxy ?? ""} onSave={setProxy("http_proxy")} placeholder="http://proxy.example.com:3128" />
          <SavedField id="https-proxy" label="HTTPS proxy" value={proxy.https_proxy ?? ""} onSave={setProxy("https_proxy")} />
          <SavedField id="no-proxy" label="Not through the proxy" value={proxy.no_proxy ?? ""} onSave={setProxy("no_proxy")} placeholder=".example.com,192.0.2.0/24" />
        </Form>
        <Alert className="fl-gap-top" isInline isPlain variant="info" title="A machine that runs already keeps the image it booted: boot it again after a change." />
      </CardBody>
    </Card>
  );
}
