// One host beside its table: what it is, what is wrong with it, what can be done.
import {
  DrawerActions,
  DrawerCloseButton,
  DrawerHead,
  DrawerPanelBody,
  DrawerPanelContent,
  Tab,
  Tabs,
  TabTitleText,
  Title,
} from "@patternfly/react-core";
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { useHost, useHostFindings } from "../../api/reads";
import type { Inventory } from "../../api/types";
import { HostMenu } from "../hosts/HostMenu";
import { HostState } from "../Status";
import { Failure, Waiting } from "../Waiting";
import { HostChecks } from "./HostChecks";
import { HostDisks } from "./HostDisks";
import { HostEvents } from "./HostEvents";
import { HostLog } from "./HostLog";
import { HostNetwork } from "./HostNetwork";
import { HostSummary } from "./HostSummary";
import { inventoryOf } from "./inventory";

const DAY_TWO = "AddToExistingClusterHost";

interface Props {
  readonly infraEnvId: string;
  readonly id: string;
  readonly onClose: () => void;
}

export function HostDrawer({ infraEnvId, id, onClose }: Props) {
  const live = useHost(infraEnvId, id);
  const findings = useHostFindings(infraEnvId, id);
  const [tab, setTab] = useState<string | number>("summary");
  const host = live.data;
  const inventory: Inventory = useMemo(() => inventoryOf(host), [host]);
  const name = host?.requested_hostname || inventory.hostname || id;
  const title = useRef<HTMLDivElement>(null);
  // Whoever opens a host with the keyboard is in it, and back in the table when it is closed.
  useEffect(() => {
    const before = document.activeElement;
    title.current?.focus({ preventScroll: true });
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    };
  }, []);
  const failing = findings.data?.filter(({ status }) => status === "failure" || status === "error").length ?? 0;
  const leave = (event: KeyboardEvent): void => {
    const target = event.target as Element;
    // Whoever leaves a menu or a dialog stays with the host.
    const inside = event.currentTarget.contains(target) && !target.closest("[role=menu], [aria-expanded=true]");
    if (event.key === "Escape" && inside && !event.defaultPrevented) onClose();
  };
  return (
    <DrawerPanelContent isResizable defaultSize="34rem" minSize="20rem" id="host-drawer" aria-label="Host" onKeyDown={leave}>
      <DrawerHead>
        <div ref={title} tabIndex={-1} className="fl-drawer-title">
          <Title headingLevel="h2" size="lg" className="fl-anywhere">
            {name}
          </Title>
        </div>
        {host && <HostState status={host.status} />}
        <DrawerActions>
          {host && <HostMenu row={{ ...host, cluster_id: host.cluster_id ?? null, name, day_two: host.kind === DAY_TWO }} onRemoved={onClose} />}
          <DrawerCloseButton onClick={onClose} aria-label="Close host" />
        </DrawerActions>
      </DrawerHead>
      <DrawerPanelBody>
        {!host && (live.error ? <Failure title="The host cannot be shown" live={live} /> : <Waiting />)}
        {host && (
          <Tabs activeKey={tab} onSelect={(_, key) => setTab(key)} aria-label="Host" mountOnEnter unmountOnExit>
            <Tab eventKey="summary" title={<TabTitleText>Summary</TabTitleText>}>
              <HostSummary host={host} inventory={inventory} />
            </Tab>
            <Tab eventKey="checks" title={<TabTitleText>{failing ? `Checks (${failing})` : "Checks"}</TabTitleText>}>
              <HostChecks host={host} live={findings} />
            </Tab>
            <Tab eventKey="disks" title={<TabTitleText>Disks</TabTitleText>}>
              <HostDisks host={host} inventory={inventory} />
            </Tab>
            <Tab eventKey="network" title={<TabTitleText>Network</TabTitleText>}>
              <HostNetwork inventory={inventory} />
            </Tab>
            <Tab eventKey="log" title={<TabTitleText>Log</TabTitleText>}>
              <HostLog host={host} />
            </Tab>
            <Tab eventKey="events" title={<TabTitleText>Events</TabTitleText>}>
              <HostEvents host={host} />
            </Tab>
          </Tabs>
        )}
      </DrawerPanelBody>
    </DrawerPanelContent>
  );
}
