"""A plain client for stand-ins and tests: JSON in, JSON out, as whoever holds the given proof."""

import ssl
import tempfile
import time
from collections.abc import Mapping
from typing import Any, Final

import httpx2

WAIT_SECONDS: Final = 180.0
OK_BELOW: Final = 300

Json = dict[str, Any]


class Refusal(Exception):
    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status}: {text}")
        self.status = status


class Api:
    def __init__(self, server: str, *, authorities: str, certificate: str = "", key: str = "", token: str = "") -> None:
        context = ssl.create_default_context(cadata=authorities)
        if certificate:
            with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
                file.write(f"{certificate}\n{key}")
                file.flush()
                context.load_cert_chain(file.name)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.server = server
        self.authorities = authorities
        self._client = httpx2.Client(base_url=server, verify=context, headers=headers, timeout=30, trust_env=False)

    def close(self) -> None:
        self._client.close()

    def ask(
        self,
        method: str,
        path: str,
        document: object = None,
        *,
        query: Mapping[str, str] | None = None,
        content_type: str = "application/json",
    ) -> Json:
        headers = {"Content-Type": content_type} if document is not None else {}
        answer = self._client.request(method, path, json=document, params=dict(query or {}), headers=headers)
        if answer.status_code >= OK_BELOW:
            raise Refusal(answer.status_code, answer.text[:500])
        return answer.json() if answer.headers.get("content-type", "").startswith("application/json") else {}

    def get(self, path: str) -> Json:
        return self.ask("GET", path)

    def create(self, path: str, document: Json) -> Json:
        return self.ask("POST", path, document)

    def patch(self, path: str, document: Json) -> Json:
        return self.ask("PATCH", path, document, content_type="application/merge-patch+json")

    def apply(self, path: str, document: Json) -> Json:
        """Server-side apply, strict: an unknown field is an error."""
        query = {"fieldManager": "lab", "force": "true", "fieldValidation": "Strict"}
        return self.ask("PATCH", path, document, query=query, content_type="application/apply-patch+yaml")

    def is_ready(self) -> bool:
        try:
            return self._client.get("/readyz").text == "ok"
        except httpx2.HTTPError:
            return False


def wait_for(holds: Any, *, what: str, seconds: float = WAIT_SECONDS) -> Any:
    """The first true answer of `holds`; an error of the lab when none comes in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if found := holds():
                return found
        except (Refusal, httpx2.HTTPError):
            pass
        time.sleep(0.1)
    raise TimeoutError(f"{what} did not happen within {seconds:g} seconds")
