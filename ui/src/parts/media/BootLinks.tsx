// Links to boot from, with what to do with them and until when they are good.
import { Alert, Button, Card, CardBody, CardTitle, ClipboardCopy, Tab, Tabs, TabTitleText } from "@patternfly/react-core";
import { type ReactNode, useEffect, useState } from "react";
import { renewImageUrl, renewScriptUrl } from "../../api/actions";
import { sentence } from "../../api/http";
import type { InfraEnv } from "../../api/types";
import { moment, shortTime, storage } from "../../numbers";

interface BootLink {
  readonly url: string;
  readonly expires: Date | null;
  readonly failure: string;
}

const NO_LINK: BootLink = { url: "", expires: null, failure: "" };

export function BootLinks({ infraEnv }: { readonly infraEnv: InfraEnv }) {
  const [tab, setTab] = useState<string | number>("iso");
  return (
    <Card isCompact>
      <CardTitle component="h3">Boot your machines</CardTitle>
      <CardBody>
        <Tabs activeKey={tab} onSelect={(_, key) => setTab(key)} aria-label="Ways to boot" mountOnEnter>
          <Tab eventKey="iso" title={<TabTitleText>Image (ISO)</TabTitleText>}>
            <IsoLink infraEnv={infraEnv} />
          </Tab>
          <Tab eventKey="pxe" title={<TabTitleText>Network (iPXE)</TabTitleText>}>
            <ScriptLink infraEnv={infraEnv} />
          </Tab>
        </Tabs>
      </CardBody>
    </Card>
  );
}

/** Asks for a new link whenever what it leads to changed. */
function useLink(ask: (id: string) => Promise<{ readonly url: string; readonly expires_at: string }>, infraEnv: InfraEnv): readonly [BootLink, () => void] {
  const [link, setLink] = useState<BootLink>(NO_LINK);
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let current = true;
    ask(infraEnv.id).then(
      ({ url, expires_at }) => current && setLink({ url, expires: moment(expires_at), failure: "" }),
      (refusal: unknown) => current && setLink({ ...NO_LINK, failure: sentence(refusal) }),
    );
    return () => {
      current = false;
    };
  }, [ask, infraEnv.id, infraEnv.updated_at, infraEnv.type, turn]);
  return [link, () => setTurn(turn + 1)];
}

function IsoLink({ infraEnv }: { readonly infraEnv: InfraEnv }) {
  const [link, renew] = useLink(renewImageUrl, infraEnv);
  return (
    <Shown link={link} renew={renew}>
      <Button component="a" href={link.url} id="download-iso" className="fl-start">
        Download the image{infraEnv.size_bytes ? ` (${storage(infraEnv.size_bytes)})` : ""}
      </Button>
      <Copied label="Link, for virtual media" text={link.url} />
      <Copied label="On another machine" text={`curl -fLo discovery.iso '${link.url}'`} />
    </Shown>
  );
}

function ScriptLink({ infraEnv }: { readonly infraEnv: InfraEnv }) {
  const [link, renew] = useLink(renewScriptUrl, infraEnv);
  return (
    <Shown link={link} renew={renew}>
      <Copied label="Script" text={link.url} />
      <Copied label="At the iPXE prompt" text={`chain --autofree ${link.url}`} />
      <p className="fl-subtle fl-small">Serve the script from your own boot server, or chain to it. It names kernel, ramdisk and root file system.</p>
    </Shown>
  );
}

function Shown({ link, renew, children }: { readonly link: BootLink; readonly renew: () => void; readonly children: ReactNode }) {
  if (link.failure) return <Alert className="fl-gap-top" isInline variant="danger" title={link.failure} />;
  if (!link.url) return null;
  const gone = link.expires !== null && link.expires.getTime() < Date.now();
  return (
    <div className="fl-stack fl-gap-top">
      {children}
      <p className={gone ? "fl-tone-danger" : "fl-subtle fl-small"}>
        {link.expires ? `The link is good until ${shortTime(link.expires)}.` : "The link does not expire."} Whoever has it can read
        the secrets in the image.{" "}
        {link.expires && (
          <Button variant="link" isInline size="sm" onClick={renew}>
            New link
          </Button>
        )}
      </p>
    </div>
  );
}

function Copied({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <div>
      <div className="fl-small fl-subtle">{label}</div>
      <ClipboardCopy isReadOnly hoverTip="Copy" clickTip="Copied" textAriaLabel={label}>
        {text}
      </ClipboardCopy>
    </div>
  );
}
