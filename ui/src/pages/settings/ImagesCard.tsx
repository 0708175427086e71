// The base images that discovery images are made from: which are here, how far downloads are, and getting more.
import { Alert, Button, Card, CardBody, CardTitle, Progress } from "@patternfly/react-core";
import { Table, Tbody, Td, Th, Thead, Tr } from "@patternfly/react-table";
import { useEffect, useState } from "react";
import { call, query, V1 } from "../../api/http";
import { keepAsking } from "../../live/following";
import { storage } from "../../numbers";
import { attempt } from "../../parts/notes";
import { State } from "../../parts/Status";
import { Waiting } from "../../parts/Waiting";
import type { Word } from "../../words";

interface BaseImage {
  readonly openshift_version: string;
  readonly version: string;
  readonly cpu_architecture: string;
  readonly type: string;
  readonly state: string;
  readonly reason: string;
  readonly bytes_on_disk: number;
  readonly percent: number | null;
}

interface BaseImageList {
  readonly images: readonly BaseImage[];
  readonly bytes_on_disk: number;
  readonly trouble: string;
  readonly state: string;
}

const PATH = `${V1}/base-images`;
/** Downloads are no events: the service answers when the list changes, at the latest after this many seconds. */
const WAIT = 25;
const WORDS: Readonly<Record<string, Word>> = {
  ready: { text: "Ready", tone: "success" },
  downloading: { text: "Downloading", tone: "progress" },
  partial: { text: "Broken off", tone: "warning" },
  failed: { text: "Cannot be used", tone: "danger" },
  missing: { text: "Fetched when needed", tone: "neutral" },
};
const NOT_HERE = new Set(["missing", "partial", "failed"]);

function useBaseImages(): BaseImageList | undefined {
  const [list, setList] = useState<BaseImageList>();
  useEffect(() => {
    let known = "";
    const next = async (signal: AbortSignal): Promise<void> => {
      const found = await call<BaseImageList>("GET", PATH + query({ state: known, wait: known ? WAIT : 0 }), { signal });
      known = found.state;
      setList(found);
    };
    return keepAsking({ next, trouble: (trouble) => trouble && setList({ images: [], bytes_on_disk: 0, trouble, state: "" }) });
  }, []);
  return list;
}

export function ImagesCard() {
  const list = useBaseImages();
  const [all, setAll] = useState(false);
  const images = list?.images ?? [];
  const newest = images.at(-1)?.openshift_version;
  const shown = images.filter((image) => all || image.state !== "missing" || image.openshift_version === newest);
  const hidden = images.length - shown.length;
  return (
    <Card isCompact className="fl-wide" id="base-images">
      <CardTitle component="h2">Base images</CardTitle>
      <CardBody className="fl-stack">
        <p className="fl-subtle">
          Discovery images are made from these. One that is not here is downloaded when the first host wants it; fetch it now to spare
          that host the wait.
          {list && list.bytes_on_disk > 0 && ` They take ${storage(list.bytes_on_disk)}.`}
        </p>
        {!list && <Waiting />}
        {list?.trouble && <Alert isInline variant="warning" title={list.trouble} />}
        {shown.length > 0 && (
          <Table aria-label="Base images" variant="compact">
            <Thead>
              <Tr>
                <Th modifier="nowrap">OpenShift</Th>
                <Th modifier="nowrap">Build</Th>
                <Th modifier="nowrap">Architecture</Th>
                <Th modifier="nowrap">State</Th>
                <Th modifier="nowrap">Size</Th>
                <Th screenReaderText="Actions" />
              </Tr>
            </Thead>
            <Tbody>
              {shown.map((image) => (
                <Row key={`${image.version} ${image.cpu_architecture} ${image.type}`} image={image} />
              ))}
            </Tbody>
          </Table>
        )}
        {hidden > 0 && (
          <Button variant="link" isInline className="fl-start" onClick={() => setAll(true)} id="all-images">
            Show {hidden} more that are not here
          </Button>
        )}
      </CardBody>
    </Card>
  );
}

function Row({ image }: { readonly image: BaseImage }) {
  const name = `${image.openshift_version} ${image.cpu_architecture}`;
  const fetchIt = (): void =>
    void attempt(
      () => call("POST", `${PATH}/actions/fetch`, { body: { version: image.version, cpu_architecture: image.cpu_architecture } }),
      `The image ${name} cannot be fetched`,
    );
  return (
    <Tr data-testid={`image-${image.version}-${image.cpu_architecture}`} data-state={image.state}>
      <Td dataLabel="OpenShift">{image.openshift_version}</Td>
      <Td dataLabel="Build" className="fl-mono">
        {image.version}
      </Td>
      <Td dataLabel="Architecture">{image.cpu_architecture}</Td>
      <Td dataLabel="State">
        <State word={WORDS[image.state] ?? { text: image.state, tone: "neutral" }} />
        {image.state === "downloading" && image.percent !== null && (
          <Progress aria-label={`Download of ${name}`} value={image.percent} size="sm" measureLocation="outside" className="fl-row-progress" />
        )}
        {image.reason && <p className="fl-small fl-anywhere">{image.reason}</p>}
      </Td>
      <Td dataLabel="Size" className="fl-number">
        {storage(image.bytes_on_disk)}
      </Td>
      <Td isActionCell>
        {NOT_HERE.has(image.state) && image.type === "full-iso" && (
          <Button variant="secondary" size="sm" aria-label={`Fetch ${name} now`} onClick={fetchIt}>
            {image.state === "missing" ? "Fetch" : "Try again"}
          </Button>
        )}
      </Td>
    </Tr>
  );
}
