"""Where actions of the agent work in tests: a folder as the host's files, programs that are scripted or real."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec

from firstlight.host.actions.action import Site
from firstlight.host.fetching import fetcher
from firstlight.host.programs import OUTPUT_LIMIT, LocalPrograms, Outcome
from firstlight.host.root import Root

INFRA_ENV = UUID("11111111-1111-4111-8111-111111111111")
HOST = UUID("22222222-2222-4222-8222-222222222222")

Script = Callable[[tuple[str, ...]], Outcome]


class Scripted:
    """Programs that are not run: each command is recorded and answered by the script."""

    def __init__(self, script: Script | None = None) -> None:
        self.commands: list[tuple[str, ...]] = []
        self.environments: list[Mapping[str, str]] = []
        self._script = script or (lambda _: Outcome(exit_code=0))

    async def run(
        self,
        *command: str,
        limit: float,
        given: bytes = b"",
        environment: Mapping[str, str] | None = None,
        keep: int = OUTPUT_LIMIT,
    ) -> Outcome:
        assert limit > 0
        self.commands.append(command)
        self.environments.append(environment or {})
        return self._script(command)


def a_site(folder: Path = Path("/"), **parts: Any) -> Site:
    """Files under `folder`, real programs, the direct way to the network."""
    root = Root(folder)
    values: dict[str, Any] = {
        "root": root,
        "programs": LocalPrograms(),
        "host": LocalPrograms(),
        "fetch": fetcher(root=Root(), environment={}),
        "service_url": "https://hub.example.com",
        "infra_env_id": INFRA_ENV,
        "host_id": HOST,
        "token": "a-secret-token",
        "agent_image": "quay.io/example/agent:1",
    }
    return Site(**{**values, **parts})


def text(document: object) -> str:
    """A JSON argument."""
    return msgspec.json.encode(document).decode()


def output_of(done: Any) -> Any:
    assert done.exit_code == 0, done.error
    return msgspec.json.decode(done.output)


def script_file(path: Path, *lines: str) -> Path:
    """An executable shell script that stands in for a program."""
    path.write_text("#!/bin/sh\n" + "\n".join(lines) + "\n")
    path.chmod(0o755)
    return path
