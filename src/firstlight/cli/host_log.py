"""`firstlight hosts log`: what a host's agent does, as it does it. The host may be named by the code on its console."""

import sys
import time
from typing import Annotated, Final

import typer

from firstlight.cli.api import DEFAULT_URL, V1, Api, Document, UrlOption, parts
from firstlight.cli.finding_things import find_host

LOOK_SECONDS: Final = 1.0


def log(
    host: Annotated[str, typer.Argument(metavar="HOST", help="Name, id, or the code on the machine's console.")],
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on as the log grows, until stopped.")] = False,
    url: UrlOption = DEFAULT_URL,
) -> None:
    """Show the log of a host's agent, its last part or as it grows."""
    api = Api(url)
    found = _by_code(api, host) or find_host(api, host)
    path = f"{V1}/infra-envs/{found['infra_env_id']}/hosts/{found['id']}/log"
    query: dict[str, str] = {}
    while True:
        part: Document = api.get(path, query)
        sys.stdout.write(harmless(part["text"]))
        sys.stdout.flush()
        query = {"offset": str(part["next"])}
        if part["next"] >= part["end"]:
            if not follow:
                return
            time.sleep(LOOK_SECONDS)


def harmless(text: str) -> str:
    """Without what would steer the terminal: a host says what it likes."""
    return "".join(char if char.isprintable() or char in "\n\t" else "\N{REPLACEMENT CHARACTER}" for char in text)


def _by_code(api: Api, word: str) -> Document | None:
    """The host whose console shows this; none if it is no code, or one that several share."""
    from firstlight.core.hosts.short_code import ALPHABET, LENGTH, plain_code

    code = plain_code(word)
    if len(code) != LENGTH or not set(code) <= set(ALPHABET):
        return None
    found = parts(api.get(f"{V1}/hosts", {"code": code}), "hosts")
    return found[0] if len(found) == 1 else None
