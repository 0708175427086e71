// What stands in the place of something that is not there yet, or cannot be had.
import { Bullseye, Button, EmptyState, EmptyStateActions, EmptyStateBody, EmptyStateFooter, Spinner } from "@patternfly/react-core";
import ExclamationCircleIcon from "@patternfly/react-icons/dist/esm/icons/exclamation-circle-icon";
import type { Live } from "../live/resources";

export function Waiting({ what = "Loading" }: { readonly what?: string }) {
  return (
    <Bullseye className="fl-waiting">
      <Spinner aria-label={what} size="lg" />
    </Bullseye>
  );
}

export function Failure({ title, live }: { readonly title: string; readonly live: Live<unknown> }) {
  return (
    <EmptyState headingLevel="h2" titleText={title} icon={ExclamationCircleIcon} status="danger" variant="sm">
      <EmptyStateBody>{live.error}</EmptyStateBody>
      <EmptyStateFooter>
        <EmptyStateActions>
          <Button variant="secondary" onClick={live.refresh}>
            Try again
          </Button>
        </EmptyStateActions>
      </EmptyStateFooter>
    </EmptyState>
  );
}
