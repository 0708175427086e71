// Links to boot from, with what to do with them and until when they are good.
import { Alert, Button, Card, CardBody, CardTitle, ClipboardCopy, Tab, Tabs, TabTitleText } from "@patternfly/react-core";
import { type ReactNode, useEffect, useState } from "react";
import { renewImageUrl, renewScriptUrl } from "../../api/actions";
import { sentence } from "../../api/http";
import type { InfraEnv } from "../../api/types";
import { moment, shortTime, storage } from "../../numbers";
import { Waiting } from "../Waiting";

interface BootLink {
  readonly url: string;
  readonly expires: Date | null;
  readonly failure: string;
}

/** What browsers count to; later than that no page is open. */
const LONGEST_TIMER = 2 ** 31 - 1;
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
    let timer = 0;
    ask(infraEnv.id).then(
      ({ url, expires_at }) => {
        if (!current) return;
        const expires = moment(expires_at);
        setLink({ url, expires, failure: "" });
        // A page that stays open shows no link that is over.
        const left = expires ? expires.getTime() - Date.now() : LONGEST_TIMER;
        if (left < LONGEST_TIMER) timer = window.setTimeout(() => setTurn((before) => before + 1), Math.max(left - 5_000, 5_000));
      },
      (refusal: unknown) => current && setLink({ ...NO_LINK, failure: sentence(refusal) }),
    );
    return () => {
      current = false;
      window.clearTimeout(timer);
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
  if (!link.url) return <Waiting />;
  return (
    <div className="fl-stack fl-gap-top">
      {children}
      <p className="fl-subtle fl-small" data-testid="link-end">
        {link.expires ? `The link is good until ${shortTime(link.expires)}; then a new one stands here.` : "The link does not expire."} Whoever has it can read
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
