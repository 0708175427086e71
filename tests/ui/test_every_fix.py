"""No fix without a test that presses it: what the rules can offer, beside what the tests of the pages press."""

import ast
from pathlib import Path
from typing import Final

import pytest

import firstlight.core

CORE: Final = Path(firstlight.core.__file__).parent
HERE: Final = Path(__file__).parent
MAKERS: Final = frozenset({"change_host", "change_cluster", "Fix"})

PRESSED: Final = {
    # What the request changes: the test that presses it, and what the button says.
    "change_cluster additional_ntp_source": ("test_fixes", "test_names_roles_and_time_are_mended", "Add pool.ntp.org"),
    "change_cluster api_vips ingress_vips": (
        "test_fixes",
        "test_networks_are_mended_checked_and_waived",
        "Use the free addresses",
    ),
    "change_cluster base_dns_domain": (
        "test_fixes",
        "test_networks_are_mended_checked_and_waived",
        "Set a base domain",
    ),
    "change_cluster cluster_networks": (
        "test_fixes",
        "test_networks_are_mended_checked_and_waived",
        "Use the default cluster network",
    ),
    "change_cluster disk_encryption": (
        "test_remaining_fixes",
        "test_names_encryption_and_platforms_are_mended",
        "Install without disk encryption",
    ),
    "change_cluster machine_networks": (
        "test_fixes",
        "test_a_single_node_chooses_its_network",
        "Use 198.51.100.0/24 as machine network",
    ),
    "change_cluster network_type": (
        "test_remaining_fixes",
        "test_network_type_and_leases_are_mended",
        "Use OVNKubernetes",
    ),
    "change_cluster platform": (
        "test_remaining_fixes",
        "test_names_encryption_and_platforms_are_mended",
        "Use the platform baremetal",
    ),
    "change_cluster service_networks": (
        "test_fixes",
        "test_networks_are_mended_checked_and_waived",
        "Use the default service network",
    ),
    "change_cluster user_managed_networking": (
        "test_remaining_fixes",
        "test_names_encryption_and_platforms_are_mended",
        "Manage the network yourself",
    ),
    "change_cluster vip_dhcp_allocation": (
        "test_remaining_fixes",
        "test_network_type_and_leases_are_mended",
        "Set the VIPs yourself instead",
    ),
    "change_host disks_selected_config": ("test_fixes", "test_another_disk_is_a_click_away", "Install to"),
    "change_host disks_skip_formatting": ("test_fixes", "test_another_disk_is_a_click_away", "Allow formatting"),
    "change_host host_name": (
        "test_remaining_fixes",
        "test_names_encryption_and_platforms_are_mended",
        "Call this host",
    ),
    "change_host host_role": ("test_fixes", "test_names_roles_and_time_are_mended", "Make this host a worker"),
    # An infra-env's own sources, and the retry of a host that failed.
    "Fix additional_ntp_sources": ("test_remaining_fixes", "test_the_time_of_a_free_host_is_mended", "PUBLIC"),
    "Fix RETRY_PATH": ("test_retries", "test_a_failed_host_is_tried_again", 'get_by_test_id("fix").click()'),
}


def test_every_fix_is_pressed_somewhere() -> None:
    found = {kind for path in CORE.rglob("*.py") for kind in fixes_in(path.read_text())}
    assert found == set(PRESSED)


@pytest.mark.parametrize("kind", PRESSED)
def test_the_test_named_presses_it(kind: str) -> None:
    module, function, words = PRESSED[kind]
    source = (HERE / f"{module}.py").read_text()
    bodies = [
        ast.get_source_segment(source, node) or ""
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef) and node.name == function
    ]
    assert [words in body for body in bodies] == [True]


def test_fixes_are_told_apart_by_what_they_change() -> None:
    made = (
        'change_cluster(title, a=1, b=2)\nFix(title="t", path=PATH)\nFix(title="t", path=P, body={"c": 1})\nother(d=1)'
    )
    assert fixes_in(made) == {"change_cluster a b", "Fix PATH", "Fix c"}
    assert fixes_in("def change_host(**body):\n    return Fix(path='p', body=body)") == set()


def fixes_in(source: str) -> set[str]:
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return {
        f"{call.func.id} {changed}"
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id in MAKERS and (changed := _changed(call.func.id, call))
    }


def _changed(maker: str, call: ast.Call) -> str:
    """The fields a request sets, else its address; nothing where a maker passes on what it was given."""
    given = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
    if maker != "Fix":
        return " ".join(sorted(given))
    body = given.get("body")
    if body is None:
        return ast.unparse(given["path"])
    return " ".join(ast.literal_eval(key) for key in body.keys if key) if isinstance(body, ast.Dict) else ""
