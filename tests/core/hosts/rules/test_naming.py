"""Hostnames."""

import pytest

from firstlight.core.hosts.facts import HostFacts
from firstlight.core.hosts.rules.naming import is_valid_hostname
from firstlight.core.rules import Status
from tests.builders.facts import a_context, host_facts, pool_facts
from tests.builders.hosts import a_host, some_reports
from tests.builders.inventories import an_inventory
from tests.core.hosts.rules.judging import FAILURE, PENDING, SUCCESS, SUPPRESSED, case, check, finding

NOTHING = host_facts(reports=some_reports(inventory=None))


def taken(*names: str, **host: str) -> HostFacts:
    return host_facts(context=a_context(duplicate_names=frozenset(names)), host=a_host(**host))


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("unique", host_facts(), SUCCESS),
        case("nothing-yet", NOTHING, PENDING, "no-inventory"),
        case("pool", pool_facts(), SUPPRESSED),
        case("taken", taken("host-1"), FAILURE, "hostname-taken"),
        case("other-names-taken", taken("host-2", "host-3"), SUCCESS),
        case("own-wish-counts", taken("host-1", requested_hostname="host-9"), SUCCESS),
        case("own-wish-taken", taken("host-9", requested_hostname="host-9"), FAILURE, "hostname-taken"),
    ],
)
def test_hostname_unique(facts: HostFacts, status: Status, cause: str) -> None:
    check("hostname-unique", facts, status, cause)


@pytest.mark.parametrize(
    ("name", "valid"),
    [
        ("a", True),
        ("0", True),
        ("a" * 63, True),
        ("a" * 64, False),
        ("host-1.example.com", True),
        ("a" * 51 + ".example.com", True),
        ("a" * 52 + ".example.com", False),
        ("-a", False),
        ("a-", True),
        ("A", False),
        ("a_b", False),
        ("a..b", False),
        ("a.", False),
        ("a\n", False),
        ("", False),
        ("ä", False),
        ("localhost", False),
        ("localhost.localdomain", False),
        ("localhost4", False),
        ("localhost4.localdomain4", False),
        ("localhost6", False),
        ("localhost6.localdomain6", False),
        ("localhost.localdomain6", True),
        ("localhost5", True),
    ],
)
def test_which_names_are_valid(name: str, valid: bool) -> None:
    assert is_valid_hostname(name) is valid


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("fine", host_facts(), SUCCESS),
        case("nothing-yet-is-a-failure", NOTHING, FAILURE, "no-inventory"),
        case("forbidden", host_facts(inventory=an_inventory(hostname="localhost")), FAILURE, "hostname-forbidden"),
        case(
            "renamed",
            host_facts(host=a_host(requested_hostname="east-1"), inventory=an_inventory(hostname="localhost")),
            SUCCESS,
        ),
        case("pool", pool_facts(inventory=an_inventory(hostname="Bad_Name")), FAILURE, "hostname-forbidden"),
    ],
)
def test_hostname_valid(facts: HostFacts, status: Status, cause: str) -> None:
    check("hostname-valid", facts, status, cause)


@pytest.mark.parametrize(
    ("name", "offered"),
    [
        pytest.param("Rack_7.Example.com", "rack-7", id="tidied"),
        pytest.param("localhost", "host-000000000001", id="nothing-to-tidy"),
        pytest.param("__", "host-000000000001", id="nothing-left"),
        pytest.param("B" * 70, "b" * 63, id="cut"),
    ],
)
def test_a_usable_name_is_offered(name: str, offered: str) -> None:
    (fix,) = finding("hostname-valid", host_facts(inventory=an_inventory(hostname=name))).fixes
    assert fix.path == "/v2/infra-envs/{infra_env_id}/hosts/{host_id}"
    assert fix.body == {"host_name": offered}
    assert is_valid_hostname(offered)


@pytest.mark.parametrize(
    ("taken_names", "offered"),
    [
        pytest.param({"host-1"}, "host-1-000001", id="suffix"),
        pytest.param({"host-1", "host-1-000001"}, "host-000000000001", id="suffix-taken-too"),
    ],
)
def test_a_free_name_is_offered(taken_names: set[str], offered: str) -> None:
    (fix,) = finding("hostname-unique", taken(*taken_names)).fixes
    assert fix.body == {"host_name": offered}


def test_the_tidied_name_must_be_free() -> None:
    facts = host_facts(
        context=a_context(duplicate_names=frozenset({"rack-7"})), inventory=an_inventory(hostname="Rack_7")
    )
    (fix,) = finding("hostname-valid", facts).fixes
    assert fix.body == {"host_name": "host-000000000001"}
