"""The service as the command line calls it."""

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NoReturn, cast

import msgspec
import typer

from firstlight.cli.ending import Code, stop
from firstlight.cli.own_token import is_loopback, token_for, trust

if TYPE_CHECKING:
    import httpx2

DEFAULT_URL: Final = "http://127.0.0.1:8090"
V2: Final = "/api/assisted-install/v2"
V1: Final = "/api/firstlight/v1"

Document = dict[str, Any]
"""A JSON object as the service sent it: the command line shows it and does not judge it."""

UrlOption = Annotated[
    str, typer.Option("--url", envvar="FIRSTLIGHT_URL", help="Address of the service.", rich_help_panel="Service")
]


class Api:
    """One service. Every trouble ends the command with a sentence and a code."""

    def __init__(self, url: str) -> None:
        # Loaded here: help and completion must not pay for it.
        import httpx2

        self.url = url.rstrip("/")
        # Nothing is gained by a proxy on the way to this very machine.
        token = token_for(self.url)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._client = httpx2.Client(
            base_url=self.url, timeout=60, trust_env=not is_loopback(self.url), headers=headers, verify=trust() or True
        )
        self._errors = httpx2.HTTPError, httpx2.InvalidURL

    def get(self, path: str, query: Mapping[str, str] | None = None) -> Any:
        return _decoded(self._ask("GET", path, query=query).content)

    def send(self, method: str, path: str, document: object = None) -> Any:
        body = None if document is None else msgspec.json.encode(document)
        return _decoded(self._ask(method, path, body=body).content)

    def text(self, path: str, query: Mapping[str, str]) -> str:
        return self._ask("GET", path, query=query).text

    def get_list(self, path: str, query: Mapping[str, str] | None = None) -> list[Document]:
        return cast(list[Document], self.get(path, query) or [])

    def download(self, path: str, query: Mapping[str, str], target: Path) -> int:
        """Bytes written to `target`; an interrupted download leaves nothing behind."""
        part = target.with_name(target.name + ".part")
        try:
            with self._client.stream("GET", path, params=dict(query)) as answer:
                self._require_success(answer)
                with part.open("wb") as file:
                    written = sum(file.write(chunk) for chunk in answer.iter_bytes())
            part.replace(target)
        except self._errors as error:
            self._unreachable(error)
        except OSError as error:
            stop(f"{target} cannot be written: {error.strerror}. Choose another place with --to.")
        finally:
            part.unlink(missing_ok=True)
        return written

    @contextmanager
    def stream(self, path: str, query: Mapping[str, str], headers: Mapping[str, str]) -> Generator[Iterator[str]]:
        """The lines of an endless answer."""
        try:
            with self._client.stream("GET", path, params=dict(query), headers=dict(headers), timeout=None) as answer:
                self._require_success(answer)
                yield answer.iter_lines()
        except self._errors as error:
            self._unreachable(error)

    def _ask(
        self, method: str, path: str, *, body: bytes | None = None, query: Mapping[str, str] | None = None
    ) -> "httpx2.Response":
        headers = {"Content-Type": "application/json"} if body is not None else {}
        try:
            answer = self._client.request(method, path, content=body, params=dict(query or {}), headers=headers)
        except self._errors as error:
            self._unreachable(error)
        self._require_success(answer)
        return answer

    def _require_success(self, answer: "httpx2.Response") -> None:
        if answer.status_code < 300:
            return
        reason = _reason_in(answer.read()) or f"the service answered {answer.status_code} without a reason"
        stop(reason, Code.NOT_FOUND if answer.status_code == 404 else Code.FAILED)

    def _unreachable(self, error: Exception) -> NoReturn:
        stop(
            f"the service at {self.url} does not answer ({error}). Start it with 'firstlight serve', or name the right"
            " address with --url or FIRSTLIGHT_URL.",
            Code.UNREACHABLE,
        )


def part(document: Document, member: str) -> Document:
    """A nested object; empty when it is absent."""
    return cast(Document, document.get(member) or {})


def parts(document: Document, member: str) -> list[Document]:
    return cast(list[Document], document.get(member) or [])


def _decoded(content: bytes) -> Any:
    if not content:
        return None
    try:
        return msgspec.json.decode(content)
    except msgspec.DecodeError:
        stop("what answers at this address is not a Firstlight service. Check --url.")


def _reason_in(content: bytes) -> str:
    try:
        found = cast(Document, msgspec.json.decode(content))
    except msgspec.DecodeError:
        return content[:300].decode(errors="replace").strip()
    return str(found.get("reason") or found.get("message") or "")
