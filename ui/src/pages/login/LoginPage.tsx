// Asks for a token; then the page that was wanted stands in its place.
import { Alert, Button, Card, CardBody, Form, FormGroup, FormHelperText, HelperText, HelperTextItem, PageSection, TextInput, Title } from "@patternfly/react-core";
import { type SyntheticEvent, useState } from "react";
import { logIn } from "../../api/actions";
import { sentence } from "../../api/http";
import { connection } from "../../live/connection";
import { forgetAll } from "../../live/resources";
import { loginDone } from "../../live/session";

export default function LoginPage() {
  const [token, setToken] = useState("");
  const [refusal, setRefusal] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = async (event: SyntheticEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setRefusal("");
    try {
      await logIn(token.trim());
    } catch (failure) {
      setRefusal(sentence(failure));
      setBusy(false);
      return;
    }
    forgetAll();
    loginDone();
    connection.restart();
  };
  return (
    <PageSection hasBodyWrapper={false} isFilled>
      <Card className="fl-login">
        <CardBody>
          <Title headingLevel="h1">Log in</Title>
          <p className="fl-subtle">This service asks who you are.</p>
          <Form className="fl-gap-top" onSubmit={(event) => void submit(event)}>
            {refusal && <Alert isInline variant="danger" title="You are not logged in">{refusal}</Alert>}
            <FormGroup label="Token" fieldId="login-token" isRequired>
              <TextInput
                id="login-token"
                type="password"
                value={token}
                onChange={(_, text) => setToken(text)}
                autoComplete="current-password"
                isRequired
                autoFocus
                aria-describedby="login-help"
              />
              <FormHelperText>
                <HelperText id="login-help">
                  <HelperTextItem>
                    Whoever runs the service makes one with <code className="fl-mono">firstlight token user --name you</code>. The first
                    one lies in the file <code className="fl-mono">admin-token</code> of its data directory.
                  </HelperTextItem>
                </HelperText>
              </FormHelperText>
            </FormGroup>
            <Button type="submit" id="log-in" isLoading={busy} isDisabled={busy || token.trim() === ""} className="fl-start">
              Log in
            </Button>
          </Form>
        </CardBody>
      </Card>
    </PageSection>
  );
}
