// Everything around a table of hosts: search, filters, choosing many, changing them together.
import {
  Button,
  Label,
  LabelGroup,
  SearchInput,
  Toolbar,
  ToolbarContent,
  ToolbarGroup,
  ToolbarItem,
} from "@patternfly/react-core";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { call, query } from "../../api/http";
import type { HostPage, HostRow } from "../../api/own";
import type { HostsPlace } from "../../api/reads";
import { counted } from "../../numbers";
import { goWith } from "../../route";
import { checkTitle } from "../../checks";
import { hostStatus, roleName } from "../../words";
import { Choice } from "../Choice";
import { attempt } from "../notes";
import { BulkChange } from "./BulkChange";
import { type Chosen, HostsTable } from "./HostsTable";
import { SavedFilters } from "./SavedFilters";
import { askedOf, FIRST_VIEW, type HostsView } from "./useHostWindow";

const NOBODY: Chosen = new Map();
const PAUSE = 150;
const MOST_AT_ONCE = 1000;

interface Props {
  readonly place: HostsPlace;
  readonly active: string;
  readonly empty: ReactNode;
  /** More for chosen hosts, beside changing them. */
  readonly actions?: (chosen: readonly HostRow[], done: () => void) => ReactNode;
}

export function HostsPanel({ place, active, empty, actions }: Props) {
  const [view, setView] = useState<HostsView>(() => ({
    ...FIRST_VIEW,
    check: new URLSearchParams(window.location.search).get("check") ?? "",
  }));
  const [text, setText] = useState("");
  const [page, setPage] = useState<HostPage>();
  const [chosen, setChosen] = useState<Chosen>(NOBODY);
  const [changing, setChanging] = useState(false);
  const change = useCallback((next: Partial<HostsView>) => setView((before) => ({ ...before, ...next })), []);
  useEffect(() => {
    const timer = window.setTimeout(() => change({ text }), PAUSE);
    return () => window.clearTimeout(timer);
  }, [text, change]);
  const open = useCallback((row: HostRow) => goWith("host", row.id), []);
  const chooseAll = async (): Promise<void> => {
    const found = new Map<string, HostRow>();
    await attempt(async () => {
      for (let offset = 0; offset < (page?.matching ?? 0); offset += MOST_AT_ONCE) {
        const part = await call<HostPage>("GET", place.path + query({ ...askedOf(view), offset, limit: MOST_AT_ONCE }));
        for (const row of part.hosts) found.set(row.id, row);
      }
    }, "The hosts could not be chosen");
    setChosen(found);
  };
  const clearCheck = (): void => {
    change({ check: "" });
    goWith("check", "");
  };
  const filtered = view.text !== "" || view.statuses.length > 0 || view.roles.length > 0 || view.check !== "";
  return (
    <div className="fl-hosts-panel">
      {page?.total === 0 && empty}
      <div hidden={page?.total === 0}>
        <Toolbar id="hosts-toolbar" inset={{ default: "insetNone" }}>
          <ToolbarContent>
            <ToolbarItem className="fl-find">
              <SearchInput
                aria-label="Find hosts"
                placeholder="Name, address, MAC, serial, label"
                value={text}
                onChange={(_, value) => setText(value)}
                onClear={() => setText("")}
              />
            </ToolbarItem>
            <ToolbarGroup variant="filter-group">
              <ToolbarItem>
                <Choice
                  id="filter-host-status"
                  label="Status"
                  options={Object.entries(page?.statuses ?? {}).map(([value, count]) => ({
                    value,
                    text: hostStatus(value).text,
                    count,
                  }))}
                  chosen={view.statuses}
                  onChange={(statuses) => change({ statuses })}
                />
              </ToolbarItem>
              <ToolbarItem>
                <Choice
                  id="filter-host-role"
                  label="Role"
                  options={Object.entries(page?.roles ?? {}).map(([value, count]) => ({ value, text: roleName(value), count }))}
                  chosen={view.roles}
                  onChange={(roles) => change({ roles })}
                />
              </ToolbarItem>
              <ToolbarItem>
                <SavedFilters
                  view={view}
                  filtered={filtered}
                  onView={(chosen) => {
                    setText(chosen.text);
                    change(chosen);
                    goWith("check", chosen.check);
                  }}
                />
              </ToolbarItem>
            </ToolbarGroup>
            {view.check && (
              <ToolbarItem alignSelf="center">
                <LabelGroup categoryName="Fails">
                  <Label onClose={clearCheck}>{checkTitle(view.check)}</Label>
                </LabelGroup>
              </ToolbarItem>
            )}
            <ToolbarItem align={{ default: "alignEnd" }} alignSelf="center" className="fl-subtle" data-testid="host-count">
              {page && (filtered ? `${page.matching.toLocaleString()} of ${counted(page.total, "host")}` : counted(page.total, "host"))}
            </ToolbarItem>
          </ToolbarContent>
        </Toolbar>
        <div className="fl-row fl-bulk" role="group" aria-label="Chosen hosts">
          <span data-testid="chosen">{counted(chosen.size, "host")} chosen</span>
          <Button variant="link" size="sm" isInline onClick={() => void chooseAll()} id="choose-all">
            Choose all {filtered ? "that match" : ""}
          </Button>
          {chosen.size > 0 && (
            <>
              <Button variant="link" size="sm" isInline onClick={() => setChosen(NOBODY)}>
                None
              </Button>
              <Button variant="secondary" size="sm" onClick={() => setChanging(true)} id="bulk-change">
                Change…
              </Button>
              {actions?.([...chosen.values()], () => setChosen(NOBODY))}
            </>
          )}
        </div>
        <HostsTable
          place={place}
          view={view}
          onView={change}
          chosen={chosen}
          onChosen={setChosen}
          onPage={setPage}
          onHost={open}
          active={active}
        />
      </div>
      {changing && <BulkChange hosts={[...chosen.values()]} onClose={() => setChanging(false)} />}
    </div>
  );
}
