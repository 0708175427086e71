import { SearchInput, Toolbar, ToolbarContent, ToolbarItem } from "@patternfly/react-core";
import { Choice } from "../../parts/Choice";
import { counted } from "../../numbers";
import type { View } from "./rows";

interface Props {
  readonly view: View;
  readonly counts: ReadonlyMap<string, number>;
  readonly shown: number;
  readonly onChange: (next: Partial<View>) => void;
}

export function ClustersToolbar({ view, counts, shown, onChange }: Props) {
  return (
    <Toolbar id="clusters-toolbar" inset={{ default: "insetNone" }}>
      <ToolbarContent>
        <ToolbarItem>
          <SearchInput
            aria-label="Find clusters by name, domain or id"
            placeholder="Name, domain or id"
            value={view.text}
            onChange={(_, text) => onChange({ text })}
            onClear={() => onChange({ text: "" })}
          />
        </ToolbarItem>
        <ToolbarItem>
          <Choice
            id="filter-status"
            label="Status"
            options={[...counts].map(([word, count]) => ({ value: word, text: word, count }))}
            chosen={view.statuses}
            onChange={(statuses) => onChange({ statuses })}
          />
        </ToolbarItem>
        <ToolbarItem align={{ default: "alignEnd" }} className="fl-subtle" alignSelf="center">
          {counted(shown, "cluster")}
        </ToolbarItem>
      </ToolbarContent>
    </Toolbar>
  );
}
