// What the agent on the host writes, as it writes it. Lines are text and nothing else.
import { Checkbox, SearchInput } from "@patternfly/react-core";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { call, query, V1 } from "../../api/http";
import type { Host } from "../../api/types";
import { keepAsking } from "../../live/following";
import { added, type LogPart, matching, NO_LOG, type ShownLog } from "./log";

const FIRST = 131_072;
/** The service answers when there is something new, at the latest after this many seconds. */
const WAIT = 20;

function useLog(host: Host): readonly [ShownLog, string] {
  const [log, setLog] = useState<ShownLog>(NO_LOG);
  const [trouble, setTrouble] = useState("");
  const { infra_env_id: infraEnvId, id } = host;
  useEffect(() => {
    const path = `${V1}/infra-envs/${infraEnvId}/hosts/${id}/log`;
    let shown = NO_LOG;
    const next = async (signal: AbortSignal): Promise<void> => {
      const asked = shown.next === null ? { limit: FIRST } : { offset: shown.next, limit: FIRST, wait: WAIT };
      shown = added(shown, await call<LogPart>("GET", path + query(asked), { signal }));
      setLog(shown);
    };
    return keepAsking({ next, trouble: setTrouble });
  }, [infraEnvId, id]);
  return [log, trouble];
}

export function HostLog({ host }: { readonly host: Host }) {
  const [log, trouble] = useLog(host);
  const [following, setFollowing] = useState(true);
  const [wanted, setWanted] = useState("");
  const box = useRef<HTMLPreElement>(null);
  const text = useMemo(() => matching(log.text, wanted), [log.text, wanted]);
  useLayoutEffect(() => {
    if (following && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text, following]);
  return (
    <div className="fl-stack fl-drawer-tab">
      <div className="fl-row">
        <SearchInput aria-label="Lines with" placeholder="Lines with…" value={wanted} onChange={(_, next) => setWanted(next)} onClear={() => setWanted("")} />
        <Checkbox id="log-follow" label="Follow" isChecked={following} onChange={(_, next) => setFollowing(next)} />
      </div>
      {trouble && <p className="fl-tone-danger" role="status">{trouble}</p>}
      {log.next === 0 || log.next === null ? (
        <p className="fl-subtle">The agent of this host has sent no log yet. Lines appear here as it writes them.</p>
      ) : (
        <pre
          ref={box}
          className="fl-log fl-mono"
          tabIndex={0}
          aria-label="Log of the agent"
          data-testid="host-log"
          onWheel={(event) => event.deltaY < 0 && setFollowing(false)}
        >
          {log.lost && "… earlier lines are no longer kept\n"}
          {text}
        </pre>
      )}
    </div>
  );
}
