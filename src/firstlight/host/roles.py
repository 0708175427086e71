"""Single steps from the command line, as the original's other programs: arguments in, a document out, the end."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from firstlight.core.errors import Invalid
from firstlight.host.actions.action import Site
from firstlight.host.actions.registry import ACTIONS
from firstlight.host.collect.collecting import inventory_document
from firstlight.host.collect.lab import load_lab
from firstlight.host.collect.view import View
from firstlight.host.fetching import fetcher
from firstlight.host.programs import LocalPrograms, Programs, host_programs
from firstlight.host.root import Root
from firstlight.host.settings import Place, place_of

NOBODY: Final = UUID(int=0)


def inventory(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """Flags of the original that do not matter here are passed over; limits are honoured."""
    place = place_of(environment)
    view = View(root=Root(place.root), programs=_programs(place), lab=load_lab(environment))
    limits = [
        word for word in arguments if word.startswith("--output-max-size=") or word.startswith("--disk-min-size=")
    ]
    sys.stdout.buffer.write(asyncio.run(inventory_document(view, limits)) + b"\n")
    return 0


def one_step(step_type: str, arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """What is no flag are the step's arguments."""
    given = tuple(word for word in arguments if not word.startswith("-"))
    if not given:
        raise Invalid("The arguments of the step are missing: a JSON document is expected.")
    place = place_of(environment)
    root = Root(place.root)
    site = Site(
        root=root,
        programs=LocalPrograms(),
        host=_programs(place),
        fetch=fetcher(root=root, environment=environment),
        service_url="",
        infra_env_id=NOBODY,
        host_id=NOBODY,
        lab=load_lab(environment),
    )
    done = asyncio.run(ACTIONS[step_type].run(given, site))
    sys.stdout.write(done.output)
    sys.stderr.write(done.error)
    return done.exit_code & 0xFF


def _programs(place: Place) -> Programs:
    return host_programs() if place.contained else LocalPrograms()
