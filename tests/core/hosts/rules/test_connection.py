"""Connection, medium, agent version, NTP and clocks."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from firstlight.core.hosts.facts import HostFacts
from firstlight.core.model.host_status import MediaStatus
from firstlight.core.model.infra_env import InfraEnv
from firstlight.core.model.reports import NtpSource
from firstlight.core.rules import Status
from tests.builders.clusters import a_policy, an_infra_env
from tests.builders.facts import a_context, host_facts, pool_facts
from tests.builders.hosts import a_host, a_presence, some_reports
from tests.builders.moments import EARLIER, NOW
from tests.core.hosts.rules.judging import FAILURE, PENDING, SUCCESS, SUPPRESSED, case, check, finding

HOUR = 3600.0


def with_offset(seconds: float | None) -> HostFacts:
    return host_facts(presence=a_presence(clock_offset_seconds=seconds))


def with_ntp(*states: str) -> HostFacts:
    return host_facts(reports=some_reports(ntp=tuple(NtpSource(f"ntp-{state}", state) for state in states)))


def test_connected() -> None:
    check("connected", host_facts(), SUCCESS, "")
    heard = NOW - timedelta(minutes=4)
    found = check(
        "connected", host_facts(connected=False, presence=a_presence(checked_in_at=heard)), FAILURE, "agent-silent"
    )
    assert found.evidence == {"checked_in_at": heard.isoformat()}
    never = host_facts(connected=False, presence=a_presence(checked_in_at=None))
    assert finding("connected", never).evidence == {"checked_in_at": None}


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("readable", host_facts(), SUCCESS),
        case("gone", host_facts(host=a_host(media=MediaStatus.DISCONNECTED)), FAILURE, "media-unreadable"),
        case("gone-in-the-pool", pool_facts(host=a_host(media=MediaStatus.DISCONNECTED)), FAILURE, "media-unreadable"),
    ],
)
def test_media_connected(facts: HostFacts, status: Status, cause: str) -> None:
    check("media-connected", facts, status, cause)


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("same", host_facts(), SUCCESS),
        case("other", host_facts(presence=a_presence(agent_version="quay.io/x:1")), FAILURE, "agent-version"),
        case("unknown", host_facts(presence=a_presence(agent_version="")), FAILURE, "agent-version"),
        case(
            "upgrades-are-off",
            host_facts(
                presence=a_presence(agent_version="quay.io/x:1"),
                context=a_context(policy=a_policy(upgrade_agent=False)),
            ),
            SUCCESS,
        ),
    ],
)
def test_compatible_agent(facts: HostFacts, status: Status, cause: str) -> None:
    check("compatible-agent", facts, status, cause)


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("one-synced", with_ntp("unreachable", "synced"), SUCCESS),
        case("combined-is-not-enough", with_ntp("combined", "not_combined"), FAILURE, "ntp-not-synced"),
        case("no-source", with_ntp(), FAILURE, "ntp-not-synced"),
        case("not-reported", host_facts(reports=some_reports(ntp=None)), PENDING, "no-ntp-report"),
        case("pool-without-sources", pool_facts(reports=some_reports(ntp=())), SUPPRESSED),
        case(
            "pool-with-sources",
            pool_facts(reports=some_reports(ntp=()), infra_env=an_infra_env(additional_ntp_sources="a.example.com")),
            FAILURE,
            "ntp-not-synced",
        ),
        case(
            "pool-with-blank-sources",
            pool_facts(reports=some_reports(ntp=()), infra_env=an_infra_env(ntp_sources=" , ")),
            SUPPRESSED,
        ),
    ],
)
def test_ntp_synced(facts: HostFacts, status: Status, cause: str) -> None:
    check("ntp-synced", facts, status, cause)


def test_ntp_finding_says_what_was_tried_and_offers_a_source() -> None:
    found = finding("ntp-synced", with_ntp("unreachable"))
    assert found.evidence["sources"] == ["ntp-unreachable (unreachable)"]
    assert found.evidence["measured_by"] == "host-1"
    assert found.measured_at == EARLIER
    assert [(fix.method, fix.path, fix.body) for fix in found.fixes] == [
        ("PATCH", "/v2/clusters/{cluster_id}", {"additional_ntp_source": "pool.ntp.org"})
    ]


@pytest.mark.parametrize(
    ("configured", "body"),
    [
        pytest.param("", {"additional_ntp_source": "pool.ntp.org"}, id="first"),
        pytest.param("a.b", {"additional_ntp_source": "a.b,pool.ntp.org"}, id="added-to-others"),
        pytest.param("pool.ntp.org", None, id="already-there"),
    ],
)
def test_ntp_fix_keeps_the_users_sources(configured: str, body: object) -> None:
    facts = host_facts(reports=some_reports(ntp=()), cluster={"additional_ntp_source": configured})
    assert [fix.body for fix in finding("ntp-synced", facts).fixes] == ([] if body is None else [body])


def test_the_ntp_fix_of_a_pool_host_changes_its_infra_env() -> None:
    facts = pool_facts(reports=some_reports(ntp=()), infra_env=an_infra_env(ntp_sources="a.b"))
    assert [(fix.path, fix.body) for fix in finding("ntp-synced", facts).fixes] == [
        ("/v2/infra-envs/{infra_env_id}", {"additional_ntp_sources": "pool.ntp.org"})
    ]


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("not-told", with_offset(None), PENDING, "no-clock"),
        case("equal", with_offset(0.0), SUCCESS),
        case("host-an-hour-ahead", with_offset(HOUR), SUCCESS),
        case("host-over-an-hour-ahead", with_offset(HOUR + 1), FAILURE, "clock-ahead"),
        case("host-almost-an-hour-ahead", with_offset(HOUR - 1), SUCCESS),
        case("host-20-minutes-behind", with_offset(-1200.0), SUCCESS),
        case("host-over-20-minutes-behind", with_offset(-1201.0), FAILURE, "clock-behind"),
        case("host-almost-20-minutes-behind", with_offset(-1199.0), SUCCESS),
        case("no-number", with_offset(float("nan")), FAILURE, "clock-behind"),
        case("endless", with_offset(float("inf")), FAILURE, "clock-ahead"),
    ],
)
def test_time_synced_between_host_and_service(facts: HostFacts, status: Status, cause: str) -> None:
    check("time-synced-between-host-and-service", facts, status, cause)


def test_the_clock_finding_is_not_restless() -> None:
    """A drift of seconds between two reports is no news."""
    assert finding("time-synced-between-host-and-service", with_offset(7201.0)) == finding(
        "time-synced-between-host-and-service", with_offset(7207.5)
    )


@pytest.mark.parametrize(
    ("infra_env", "sources"),
    [
        pytest.param(None, "pool.ntp.org", id="no-infra-env"),
        pytest.param(an_infra_env(additional_ntp_sources="a.b"), "a.b,pool.ntp.org", id="added-to-others"),
    ],
)
def test_a_pool_host_with_a_wrong_clock_is_offered_a_source(infra_env: InfraEnv | None, sources: str) -> None:
    facts = replace(pool_facts(presence=a_presence(clock_offset_seconds=9000.0)), infra_env=infra_env)
    found = finding("time-synced-between-host-and-service", facts)
    assert [fix.body for fix in found.fixes] == [{"additional_ntp_sources": sources}]
