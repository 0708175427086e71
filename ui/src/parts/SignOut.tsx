// Leaves the service: the browser forgets its token, and the page what it showed.
import { Button, ToolbarItem } from "@patternfly/react-core";
import { logOut } from "../api/actions";
import { connection } from "../live/connection";
import { forgetAll } from "../live/resources";
import { askForLogin, useNeedsLogin } from "../live/session";
import { attempt } from "./notes";
import { useAbout } from "./SetupWarnings";

export function SignOut() {
  const about = useAbout();
  const needsLogin = useNeedsLogin();
  if (needsLogin || about?.auth_type !== "local") return null;
  const leave = async (): Promise<void> => {
    if (!(await attempt(logOut, "You are still logged in"))) return;
    askForLogin();
    forgetAll();
    connection.restart();
  };
  return (
    <ToolbarItem>
      <Button variant="link" isInline id="sign-out" onClick={() => void leave()}>
        Sign out
      </Button>
    </ToolbarItem>
  );
}
