"""Whatever a service, a server, a file or a tool answers: a value or one known error, never a surprise."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from firstlight.core.errors import Invalid
from firstlight.host.actions.reclaim import mainframe_parameters
from firstlight.host.actions.worker_ignition import is_known, reduced
from firstlight.host.agent.documents import ArchiveReached, Instructions, LogTaken, Registration, RunnerCommand
from firstlight.host.agent.installer import installer_on
from firstlight.host.agent.media import medium_in
from firstlight.host.agent.registering import registered_from
from firstlight.host.calling import LONGEST_REASON, Unreachable, decoded, reason_in
from firstlight.host.flags import HelpWanted, read_flags
from firstlight.host.kubernetes import KubeTrouble, read_kubeconfig
from firstlight.host.links.dhcp_lease import address_in
from firstlight.host.main import ROLES, run
from firstlight.host.programs import Outcome
from firstlight.host.settings import AGENT_FLAGS
from tests.agent_sites import Scripted
from tests.host.agent.setting import HOST_ID, INFRA_ENV_ID

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def shaped(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Documents that have the right names, and anything behind them."""
    return st.fixed_dictionaries({}, optional=members)


FILE = shaped(path=VALUES | st.just("/etc/kubernetes/kubeconfig"), contents=VALUES)
IGNITION = shaped(
    ignition=shaped(version=VALUES | st.sampled_from(["3.2.0", "3.6", "3.7.0", "2.1.0", "3." + "9" * 5000])),
    storage=shaped(files=st.lists(FILE | VALUES, max_size=3) | VALUES, luks=VALUES) | VALUES,
)


@given(IGNITION)
@example({"ignition": {"version": "3.2.0"}, "storage": {"files": [{"path": []}, {"path": {}}]}})
def test_ignition_of_workers(document: dict[str, Any]) -> None:
    try:
        text = reduced(json.dumps(document).encode())
    except Invalid:
        return
    kept = json.loads(text)
    assert set(kept) <= {"ignition", "storage"}
    assert is_known(kept["ignition"]["version"])
    assert set(kept.get("storage", {})) <= {"files", "luks"}


@given(st.binary(max_size=200))
def test_what_is_no_ignition(body: bytes) -> None:
    with pytest.raises(Invalid):
        reduced(body)


STEP = shaped(step_type=VALUES | st.just("inventory"), step_id=VALUES, args=VALUES | st.lists(st.text(), max_size=3))
ANSWERS = shaped(
    id=VALUES,
    next_step_runner_command=shaped(args=VALUES) | VALUES,
    firstlight=shaped(wait_seconds=VALUES, status=VALUES, problems=VALUES) | VALUES,
    instructions=st.lists(STEP, max_size=3) | VALUES,
    next_instruction_seconds=VALUES,
    post_step_action=VALUES,
    next=VALUES,
)


RUNNER = shaped(host_id=VALUES, infra_env_id=VALUES, agent_version=VALUES)


@settings(max_examples=60)
@given(ANSWERS.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=100))
def test_answers_of_services(answer: bytes) -> None:
    for kind in (Registration, Instructions, LogTaken, ArchiveReached):
        with suppress(Unreachable):
            assert isinstance(decoded(kind, answer), kind)


@settings(max_examples=50)
@given(st.lists(st.text() | RUNNER.map(json.dumps), max_size=2))
def test_commands_of_services(words: list[str]) -> None:
    command = RunnerCommand(args=tuple(words))
    found = registered_from(Registration(next_step_runner_command=command), host_id=HOST_ID, infra_env_id=INFRA_ENV_ID)
    assert found.host_id
    assert found.infra_env_id


@given(st.binary(max_size=2000) | st.text(max_size=2000).map(lambda text: f"<p>{text}</p>".encode()))
def test_reasons(body: bytes) -> None:
    reason = reason_in(body)
    assert len(reason) <= LONGEST_REASON
    assert reason.isprintable()


@given(
    st.lists(
        st.text(max_size=12) | st.sampled_from([*sorted(f"--{name}" for name in AGENT_FLAGS), "-insecure=", "--"]),
        max_size=6,
    )
)
def test_flags(words: list[str]) -> None:
    with suppress(Invalid, HelpWanted):
        assert set(read_flags(words, known=AGENT_FLAGS)) <= set(AGENT_FLAGS)


@given(name=st.text(max_size=10).filter(lambda name: name.rpartition("/")[2] not in ROLES))
def test_names_of_the_program(name: str) -> None:
    assert run([name], {}) == 1


@given(st.text(max_size=300) | st.text(max_size=60).map(lambda text: f"server: https://a\nclient-key-data: {text}\n"))
def test_kubeconfigs(text: str) -> None:
    with suppress(KubeTrouble):
        assert read_kubeconfig(text).server.startswith("https://")


@given(st.text(max_size=200), st.text(max_size=200))
def test_texts_of_the_machine(first: str, second: str) -> None:
    assert "\n" not in mainframe_parameters(f"title x\noptions {first}".replace("\r", ""), command_line=second)
    device = medium_in(f"{first}\n{second}")
    assert device is None or device.startswith("/dev")
    address = address_in(f"lease {{ fixed-address {first}; }} {second}")
    assert address is None or str(address) in first + second


@pytest.mark.anyio
@pytest.mark.parametrize("output", [b"", b"\xff", b"running", b"exited", b"exited x", b"exited -1", b"\n 0", b"dead 3"])
async def test_what_podman_prints_of_the_installer(output: bytes) -> None:
    programs = Scripted(lambda command: Outcome(exit_code=0, output=b"" if "exists" in command else output))
    found = await installer_on(programs)
    assert found.presence in ("running", "ended", "unknown")
