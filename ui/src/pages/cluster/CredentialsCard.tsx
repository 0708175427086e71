// The way into the new cluster.
import { Button, Card, CardBody, CardTitle, ClipboardCopy } from "@patternfly/react-core";
import ExternalLinkAltIcon from "@patternfly/react-icons/dist/esm/icons/external-link-alt-icon";
import { useState } from "react";
import { files } from "../../api/actions";
import { V2 } from "../../api/http";
import type { Cluster, Credentials } from "../../api/types";
import { Facts } from "../../parts/Facts";
import { fetched } from "../../parts/FileLink";
import { Failure, Waiting } from "../../parts/Waiting";
import { useLive } from "../../live/resources";
import { clusterTag } from "../../live/tags";

export function CredentialsCard({ cluster }: { readonly cluster: Cluster }) {
  const live = useLive<Credentials>(`${V2}/clusters/${cluster.id}/credentials`, [clusterTag(cluster.id)]);
  const [shown, setShown] = useState(false);
  const found = live.data;
  const console = found?.console_url?.startsWith("https://") ? found.console_url : "";
  return (
    <Card isCompact id="credentials">
      <CardTitle component="h2">Log in</CardTitle>
      <CardBody className="fl-stack">
        {!found && (live.error ? <Failure title="The credentials cannot be shown" live={live} /> : <Waiting />)}
        {found && (
          <>
            {console && (
              <Button
                component="a"
                href={console}
                target="_blank"
                rel="noreferrer"
                icon={<ExternalLinkAltIcon />}
                iconPosition="end"
                id="open-console"
                className="fl-start"
              >
                Open the console
              </Button>
            )}
            <Facts
              facts={[
                ["Console", console ? <ClipboardCopy key="url" variant="inline-compact" hoverTip="Copy" clickTip="Copied">{console}</ClipboardCopy> : ""],
                ["User", found.username],
                [
                  "Password",
                  shown ? (
                    <ClipboardCopy key="password" variant="inline-compact" isCode hoverTip="Copy" clickTip="Copied">
                      {found.password ?? ""}
                    </ClipboardCopy>
                  ) : (
                    <Button key="show" variant="link" isInline onClick={() => setShown(true)} id="show-password">
                      Show
                    </Button>
                  ),
                ],
              ]}
            />
            <Button
              component="a"
              variant="secondary"
              href={files.credentials(cluster.id, "kubeconfig")}
              className="fl-start"
              onClick={(event) => fetched(event, files.credentials(cluster.id, "kubeconfig"), "kubeconfig")}
            >
              Download kubeconfig
            </Button>
            <p className="fl-subtle fl-small fl-anywhere">
              The console opens when api.{cluster.name}.{cluster.base_dns_domain} and *.apps.{cluster.name}.
              {cluster.base_dns_domain} lead to {cluster.api_vips?.[0]?.ip ?? "the API address"} and{" "}
              {cluster.ingress_vips?.[0]?.ip ?? "the ingress address"}.
            </p>
          </>
        )}
      </CardBody>
    </Card>
  );
}
