// A page that cannot be shown says so and how to go on. Parts of the pages are loaded when they are needed: by then the
// service may be out of reach for a moment, or have been updated.
import { Button, EmptyState, EmptyStateActions, EmptyStateBody, EmptyStateFooter } from "@patternfly/react-core";
import ExclamationCircleIcon from "@patternfly/react-icons/dist/esm/icons/exclamation-circle-icon";
import { Component, type ReactNode } from "react";
import { sentence } from "../api/http";
import { connection } from "../live/connection";

const NOT_LOADED = /dynamically imported module|preload CSS|module script/i;
const KEY = "firstlight.loaded-again";
const PAUSE = 60_000;

export const isNotLoaded = (error: unknown): boolean => NOT_LOADED.test(sentence(error));

interface Props {
  /** Whoever goes elsewhere leaves the error behind. */
  readonly place: string;
  readonly children: ReactNode;
}

export class Boundary extends Component<Props, { readonly error: unknown }> {
  override state = { error: undefined as unknown };
  private forget: () => void = () => undefined;

  static getDerivedStateFromError(error: unknown): { readonly error: unknown } {
    return { error };
  }

  override componentDidCatch(error: unknown): void {
    if (!isNotLoaded(error)) return;
    this.forget = connection.watch(() => connection.current().state === "live" && loadAgain());
    if (connection.current().state === "live") loadAgain();
  }

  override componentDidUpdate({ place }: Props): void {
    if (place !== this.props.place && this.state.error !== undefined) this.setState({ error: undefined });
  }

  override componentWillUnmount(): void {
    this.forget();
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <EmptyState headingLevel="h1" titleText="This page could not be loaded" icon={ExclamationCircleIcon} status="danger">
        <EmptyStateBody>
          {isNotLoaded(error)
            ? "The service does not answer, or it was updated meanwhile. The page comes back by itself as soon as it can."
            : `Something in the page went wrong: ${sentence(error)}`}
        </EmptyStateBody>
        <EmptyStateFooter>
          <EmptyStateActions>
            <Button variant="secondary" onClick={() => window.location.reload()}>
              Load it again
            </Button>
          </EmptyStateActions>
        </EmptyStateFooter>
      </EmptyState>
    );
  }
}

/** At most once in a while: a page that can never be loaded must not spin. */
function loadAgain(): void {
  const last = Number(window.sessionStorage.getItem(KEY) ?? "0");
  if (Date.now() - last < PAUSE) return;
  window.sessionStorage.setItem(KEY, String(Date.now()));
  window.location.reload();
}
