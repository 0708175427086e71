import { ToggleGroup, ToggleGroupItem } from "@patternfly/react-core";
import AdjustIcon from "@patternfly/react-icons/dist/esm/icons/adjust-icon";
import MoonIcon from "@patternfly/react-icons/dist/esm/icons/moon-icon";
import SunIcon from "@patternfly/react-icons/dist/esm/icons/sun-icon";
import { type Choice, choose, useTheme } from "../theme/theme";

const CHOICES: readonly (readonly [Choice, string, typeof SunIcon])[] = [
  ["system", "Like the system", AdjustIcon],
  ["light", "Light", SunIcon],
  ["dark", "Dark", MoonIcon],
];

export function ThemeSwitch() {
  const chosen = useTheme();
  return (
    <ToggleGroup aria-label="Theme" isCompact>
      {CHOICES.map(([choice, label, Icon]) => (
        <ToggleGroupItem
          key={choice}
          buttonId={`theme-${choice}`}
          aria-label={`${label} theme`}
          icon={<Icon />}
          isSelected={chosen === choice}
          onChange={() => choose(choice)}
        />
      ))}
    </ToggleGroup>
  );
}
