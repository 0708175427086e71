"""`firstlight token`: tokens for others."""

from enum import StrEnum
from typing import Annotated

import typer

from firstlight.cli.api import DEFAULT_URL, V1, Api, Document, UrlOption
from firstlight.cli.output import put


class Kind(StrEnum):
    USER = "user"
    READ_ONLY = "read-only"
    WATCHER = "watcher"
    INFRA_ENV = "infra-env"
    CLUSTER = "cluster"


def token(
    kind: Annotated[Kind, typer.Argument(help="What the token is for.")],
    name: Annotated[str, typer.Option(help="Whose it is: for user, read-only and watcher.")] = "",
    subject: Annotated[str, typer.Option("--id", help="The id of the infra-env or cluster it is for.")] = "",
    hours: Annotated[float | None, typer.Option(help="How long it is good for; without, for ever.")] = None,
    url: UrlOption = DEFAULT_URL,
) -> None:
    """Make a token for a person or a program, and print it. The service has to run with AUTH_TYPE=local."""
    asked: Document = {"kind": kind.value, "name": name}
    if subject:
        asked["subject"] = subject
    if hours is not None:
        asked["lifetime_hours"] = hours
    put(str(Api(url).send("POST", f"{V1}/tokens", asked)["token"]))
