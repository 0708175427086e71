"""Command lines of the original's units and containers, word for word."""

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from firstlight.core.errors import Invalid
from firstlight.host.flags import HelpWanted, read_flags
from firstlight.host.main import run
from firstlight.host.settings import AgentSettings, agent_settings, place_of
from tests.host.agent.setting import HOST_ID, INFRA_ENV_ID

KNOWN = {"url": False, "insecure": True, "cacert": False}
NEEDED = ["--url", "https://hub.example.com/prefix/", "--infra-env-id", str(INFRA_ENV_ID)]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["-url", "a"], {"url": "a"}),
        (["--url=a"], {"url": "a"}),
        (["--url="], {"url": ""}),
        (["-url=a=b"], {"url": "a=b"}),
        (["--insecure"], {"insecure": "true"}),
        (["--insecure=false", "--url", "a"], {"insecure": "false", "url": "a"}),
        (["-insecure=T"], {"insecure": "true"}),
        (["--insecure", "false", "--url", "a"], {"insecure": "true"}),
        (["--url", "-dash"], {"url": "-dash"}),
        (["--url", "a", "--url", "b"], {"url": "b"}),
        (["--url", "a", "--", "--cacert", "c"], {"url": "a"}),
        (["word", "--url", "a"], {}),
        (["-", "--url", "a"], {}),
    ],
)
def test_flags_as_the_original_reads_them(words: list[str], found: dict[str, str]) -> None:
    assert read_flags(words, known=KNOWN) == found


@pytest.mark.parametrize("words", [["--nope"], ["--url"], ["--insecure=maybe"], ["---url", "a"]])
def test_flags_that_make_no_sense(words: list[str]) -> None:
    with pytest.raises(Invalid):
        read_flags(words, known=KNOWN)


def test_the_command_of_the_unit() -> None:
    words = [*NEEDED, "--agent-version", "q/agent:1", "--insecure=false", "--cacert", "/etc/a/ca.crt"]
    environment = {"PULL_SECRET_TOKEN": "secret", "HTTPS_PROXY": "http://p:3128", "no_proxy": "10.0.0.0/8", "PATH": "x"}
    settings = agent_settings(words, environment)
    assert settings.url == "https://hub.example.com/prefix"
    assert settings.infra_env_id == INFRA_ENV_ID
    assert settings.agent_version == "q/agent:1"
    assert (settings.insecure, settings.interval, settings.ca_certificate) == (False, 60.0, Path("/etc/a/ca.crt"))
    assert settings.proxies == {"HTTPS_PROXY": "http://p:3128", "no_proxy": "10.0.0.0/8"}
    assert settings.token == "secret"
    assert settings.dry_run is None
    assert (settings.logging.journal, settings.logging.text, settings.logging.stdout) == (True, False, False)
    assert "secret" not in repr(settings)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--url", "hub", "--infra-env-id", str(INFRA_ENV_ID)],
        ["--url", "ftp://hub", "--infra-env-id", str(INFRA_ENV_ID)],
        ["--url", "http://[::1", "--infra-env-id", str(INFRA_ENV_ID)],
        ["--url", "http://hub", "--infra-env-id", "x"],
        [*NEEDED, "--interval", "soon"],
        [*NEEDED, "--host-id", "x"],
    ],
)
def test_settings_that_are_refused(words: list[str]) -> None:
    with pytest.raises(Invalid):
        agent_settings(words, {})


@pytest.mark.parametrize(("given", "seconds"), [("1", 1.0), ("0", 1.0), ("7200", 7200.0), ("999999999999", 86400.0)])
def test_intervals_are_bounded(given: str, seconds: float) -> None:
    assert agent_settings([*NEEDED, "--interval", given], {}).interval == seconds


def test_a_dry_run_by_flags_or_variables() -> None:
    by_flags = agent_settings([*NEEDED, "--dry-run", "--force-id", str(HOST_ID), "--force-mac", "a"], {})
    by_variables = agent_settings(
        NEEDED, {"DRY_ENABLE": "true", "DRY_HOST_ID": str(HOST_ID), "DRY_FORCED_MAC_ADDRESS": "a"}
    )
    assert by_flags.dry_run == by_variables.dry_run
    assert by_flags.dry_run is not None
    assert by_flags.dry_run.host_id == HOST_ID
    assert by_flags.place.state.name == f"firstlight-agent-{HOST_ID}", "agents of a load test share no journal"
    named = agent_settings([*NEEDED, "--dry-run", "--force-id", str(HOST_ID)], {"FIRSTLIGHT_AGENT_STATE": "/state"})
    assert str(named.place.state) == "/state"


@pytest.mark.parametrize(
    ("environment", "contained", "expected"),
    [
        ({}, False, ("/", "/run/firstlight-agent", False, ())),
        ({}, True, ("/proc/1/root", "/proc/1/root/run/firstlight-agent", True, ("auto",))),
        ({"FIRSTLIGHT_AGENT_ROOT": "/tree"}, True, ("/tree", "/tree/run/firstlight-agent", False, ("auto",))),
        (
            {"FIRSTLIGHT_AGENT_CONSOLE": "/dev/tty1, /dev/ttyS0,", "FIRSTLIGHT_AGENT_STATE": "/s"},
            False,
            ("/", "/s", False, ("/dev/tty1", "/dev/ttyS0")),
        ),
    ],
)
def test_where_the_machine_is(environment: dict[str, str], contained: bool, expected: tuple[Any, ...]) -> None:
    place = place_of(environment, contained=contained)
    assert (str(place.root), str(place.state), place.contained, place.consoles) == expected


def test_names_decide_what_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["/usr/bin/nothing"], {}) == 1
    assert "nothing" in capsys.readouterr().err
    assert run(["/usr/bin/agent", "--help"], {}) == 0
    assert "-infra-env-id" in capsys.readouterr().out
    for name, words in {
        "agent": ["--url", "x"],
        "next_step_runner": NEEDED,
        "logs_sender": ["-url", "http://h", "-cluster-id", str(INFRA_ENV_ID)],
        "disk_speed_check": [],
        "free_addresses": [],
    }.items():
        assert run([name, *words], {}) == 2, name
        assert capsys.readouterr().err


def test_help_is_not_an_error() -> None:
    with pytest.raises(HelpWanted):
        read_flags(["-h"], known=KNOWN)


def test_ids_are_ids() -> None:
    settings = agent_settings([*NEEDED, "--host-id", str(HOST_ID).upper()], {})
    assert isinstance(settings, AgentSettings)
    assert settings.host_id == UUID(str(HOST_ID))
