"""Every step type answers arguments that make no sense with a sentence, and tolerates more than it needs."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firstlight.host.actions.registry import ACTIONS
from tests.agent_sites import Scripted, a_site

WITHOUT_ARGUMENTS = {"stop-installation"}
BAD = [(), ("",), ("{",), ("null",), ("7",), ('{"a":1}',), ('[{"vip":1}]',), ("\ud800",)]


def test_every_step_type_has_an_action() -> None:
    """All but the two that nobody sends."""
    from typing import get_args

    from firstlight.core.wire.words import StepType

    assert set(get_args(StepType)) - set(ACTIONS) == {"execute", "next-step-runner"}
    assert all(name == action.step_type for name, action in ACTIONS.items())
    assert all(action.limit_seconds > 0 for action in ACTIONS.values())


@pytest.mark.anyio
@pytest.mark.parametrize("arguments", BAD, ids=repr)
@pytest.mark.parametrize("step_type", sorted(ACTIONS.keys() - WITHOUT_ARGUMENTS))
async def test_nonsense_is_answered_with_a_sentence(tmp_path: Path, step_type: str, arguments: tuple[str, ...]) -> None:
    programs = Scripted()
    if step_type in ("container-image-availability", "upgrade-agent") and arguments == ('{"a":1}',):
        return  # all their fields may be missing
    done = await ACTIONS[step_type].run(arguments, a_site(tmp_path, programs=programs, host=programs))
    assert done.exit_code == -1
    assert done.error.startswith(f"The arguments of the step {step_type} cannot be used: ")
    assert programs.commands == []


@pytest.mark.anyio
async def test_no_arguments_are_expected_and_more_are_tolerated(tmp_path: Path) -> None:
    programs = Scripted()
    done = await ACTIONS["stop-installation"].run(("something", "new"), a_site(tmp_path, host=programs))
    assert done.exit_code == 0
    assert programs.commands == [("podman", "stop", "-i", "-t", "5", "assisted-installer")]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "step_type", ["install", "installation-disk-speed-check", "tang-connectivity-check", "logs-gather"]
)
async def test_hostile_documents_never_start_anything(tmp_path: Path, step_type: str) -> None:
    """Whatever JSON comes: a sentence, and no program is run."""
    import msgspec

    programs = Scripted()
    site = a_site(tmp_path, programs=programs, host=programs)
    examples: list[object] = []

    @settings(max_examples=60, database=None, suppress_health_check=list(HealthCheck))
    @given(json_values)
    def gather(value: object) -> None:
        examples.append(value)

    gather()
    for value in examples:
        done = await ACTIONS[step_type].run((msgspec.json.encode(value).decode(),), site)
        assert done.exit_code == -1
        assert done.error
    assert programs.commands == []
