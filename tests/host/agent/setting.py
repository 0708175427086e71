"""An agent's surroundings for tests: a folder as machine, programs that are made up, a log that goes nowhere."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

from firstlight.host.actions.action import Action, Done, Site
from firstlight.host.agent.logs.writing import Log
from firstlight.host.fetching import fetcher
from firstlight.host.programs import OUTPUT_LIMIT, Outcome
from firstlight.host.root import Root
from firstlight.host.settings import AgentSettings, Logging, Place

HOST_ID = UUID("d626ff1d-7374-6dea-7559-e2240d8124fa")
INFRA_ENV_ID = UUID("0f0f0f0f-1111-4222-8333-444444444444")
QUIET = Logging(journal=False)


def a_log(**parts: Any) -> Log:
    return Log(QUIET, **parts)


def settings_for(url: str, folder: Path, **parts: Any) -> AgentSettings:
    place = Place(root=folder, state=folder / "state")
    return AgentSettings(url=url, infra_env_id=INFRA_ENV_ID, agent_version="agent:1", place=place, **parts)


class Scene:
    """Programs whose outcome is given by the first words of their command; everything else could not start."""

    def __init__(self, outcomes: Mapping[str, Outcome] | None = None) -> None:
        self.outcomes = dict(outcomes or {})
        self.commands: list[str] = []

    async def run(
        self,
        *command: str,
        limit: float,
        given: bytes = b"",
        environment: Mapping[str, str] | None = None,
        keep: int = OUTPUT_LIMIT,
    ) -> Outcome:
        text = " ".join(command)
        self.commands.append(text)
        found = [outcome for words, outcome in self.outcomes.items() if text.startswith(words)]
        return found[0] if found else Outcome(exit_code=-1, errors=b"there is no such program")


def a_site(folder: Path, *, programs: Scene | None = None) -> Site:
    root, programs = Root(folder), programs or Scene()
    return Site(
        root=root,
        programs=programs,
        host=programs,
        fetch=fetcher(root=root, environment={}),
        service_url="http://127.0.0.1:1",
        infra_env_id=INFRA_ENV_ID,
        host_id=HOST_ID,
    )


def an_action(step_type: str, perform: Any, **parts: Any) -> Action:
    async def run(arguments: tuple[str, ...], site: Site) -> Done:
        return await perform(arguments, site)

    return Action(step_type=step_type, perform=run, **{"limit_seconds": 30.0, **parts})
