"""Percentages, logs of the machine-config server, nodes and machine configs: pure readings of what others write."""

import json
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.errors import Invalid
from firstlight.host.installer.existing_root import kernel_arguments
from firstlight.host.installer.mcs_log import LogReader
from firstlight.host.installer.nodes import host_of, node_of, unsettled
from firstlight.host.installer.percent import Percents, percent_in
from firstlight.host.installer.service import HostDocument
from firstlight.host.installer.settings import installer_settings
from firstlight.host.installer.skip_reboot import Unusable, machine_config_in
from firstlight.host.recognising import identity_in, ignited_addresses
from firstlight.host.root import Root
from tests.host.installer.planes import CONFIG, a_node
from tests.host.installer.rig import CLUSTER_ID, HOST_ID, OTHER_IDS


@given(st.lists(st.binary(max_size=60)))
def test_any_output_can_be_heard(pieces: list[bytes]) -> None:
    percents, told = Percents(), []
    for piece in pieces:
        percent = percents.hear(piece)
        if percent is not None:
            told.append(percent)
    assert told == sorted(set(told))
    assert all(0 <= percent <= 100 for percent in told)


@given(st.integers(1, 100), st.data())
def test_cut_anywhere_the_same_percentages_are_told(steps: int, data: st.DataObject) -> None:
    """Each report is at least five points above the last one, whatever the pieces; a hundred is always told."""
    text = b"".join(b"> Read disk (%d%%)\r" % (100 * step // steps) for step in range(1, steps + 1))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=12)))
    percents, told = Percents(), []
    for begin, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        percent = percents.hear(text[begin:end])
        told += [] if percent is None else [percent]
    assert told[-1] == 100
    assert all(later - earlier >= 5 for earlier, later in pairwise(told[:-1]))


@pytest.mark.parametrize(
    ("line", "percent"),
    [(b"> (35%)", 35), (b"(101%)", None), (b"35%", None), (b"(3.5%)", None), (b"(a%) (7%)", 7), (b"", None)],
)
def test_one_line(line: bytes, percent: int | None) -> None:
    assert percent_in(line) == percent


OLD = 'pool master requested by {} User-Agent:"Ignition/2.6.0"'
NEW = 'Pool master requested by address:"{}" User-Agent:"Ignition/2.14.0" Accept-Header: "x"'


@pytest.mark.parametrize(
    ("line", "address"),
    [
        (OLD.format("192.168.126.12:32780"), "192.168.126.12"),
        (NEW.format("[2620:52:0:1302::83]:47018"), "2620:52:0:1302::83"),
        (NEW.format("[fe80::5%ens3]:47018"), "fe80::5"),
        (OLD.format("[fe80::5%ens3]:47018"), "fe80::5"),
        (OLD.format("110.0.0.5:1"), "110.0.0.5"),
        (OLD.format("[::ffff:10.0.0.5]:1"), "10.0.0.5"),
        (OLD.format("999.0.0.5:1"), None),
        ('requested by 10.0.0.5:1 User-Agent:"curl"', None),
        ("", None),
    ],
)
def test_who_asked(line: str, address: str | None) -> None:
    assert [str(one) for one in ignited_addresses(line)] == ([address] if address else [])


@given(st.text(max_size=200))
def test_any_line_can_be_read(line: str) -> None:
    ignited_addresses(line + ' User-Agent:"Ignition')


def test_a_host_without_addresses_is_nobody() -> None:
    assert identity_in("") == identity_in("{") == identity_in("{}") == identity_in("[" * 9_999) == ("", frozenset())
    inventory = json.dumps({"interfaces": [{"ipv4_addresses": ["10.0.0.5/24", "x"], "ipv6_addresses": None}]})
    (found,) = identity_in(inventory).addresses
    assert str(found) == "10.0.0.5"
    assert found not in ignited_addresses(OLD.format("110.0.0.5:1"))
    zoned = json.dumps({"interfaces": [{"ipv6_addresses": ["fe80::5%ens3/64"]}]})
    assert {str(one) for one in identity_in(zoned).addresses} == {"fe80::5"}


def test_logs_are_read_once_and_rotation_hides_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "var/log/containers"
    folder.mkdir(parents=True)
    log = folder / "machine-config-server-a.log"
    (folder / "etcd.log").write_text(OLD.format("10.0.0.9:1") + "\n")
    reader = LogReader(Root(tmp_path))
    assert reader.addresses() == frozenset()
    line = OLD.format("10.0.0.5:1")
    log.write_text(line[:30])
    assert reader.addresses() == frozenset(), "a line that is still being written"
    log.write_text(line + "\n")
    assert {str(one) for one in reader.addresses()} == {"10.0.0.5"}
    assert reader.addresses() == frozenset()
    log.rename(folder / "machine-config-server-a.1.log")
    log.write_text(OLD.format("10.0.0.6:1") + "\n")
    (folder / "machine-config-server-b.log").write_text(OLD.format("10.0.0.7:1") + "\n")
    assert {str(one) for one in reader.addresses()} == {"10.0.0.6", "10.0.0.7"}


def test_which_host_a_node_is() -> None:
    inventory = json.dumps({"interfaces": [{"ipv4_addresses": ["10.0.0.5/24"]}]})
    named = HostDocument(id=OTHER_IDS[0], requested_hostname="Master-1")
    addressed = HostDocument(id=OTHER_IDS[1], requested_hostname="other", inventory=inventory)
    hosts = (addressed, named)
    assert host_of(node_of(a_node("master-1", address="10.0.0.5")), hosts) is named
    assert host_of(node_of(a_node("x", address="10.0.0.5")), hosts) is addressed
    assert host_of(node_of(a_node("x", address="110.0.0.5")), hosts) is None


def test_when_machine_configs_are_settled() -> None:
    good, other, none = (node_of(a_node("m", config=config)) for config in (CONFIG, "other", ""))
    known = frozenset({CONFIG, "other"})
    assert unsettled([good, good], configs=known) == ""
    assert "no current" in unsettled([good, none], configs=known)
    assert "one machine config" in unsettled([good, other], configs=known)
    assert "does not exist" in unsettled([other], configs=frozenset({CONFIG}))
    assert unsettled([], configs=known)


def test_kernel_arguments_for_rpm_ostree() -> None:
    words = ("--append-karg", "a=b", "--copy-network", "--delete-karg=quiet", "--append-karg")
    assert kernel_arguments(words) == ("--append=a=b", "--delete=quiet")


def test_the_machine_config_inside_a_rendered_one() -> None:
    config = json.dumps({"spec": {"osImageURL": "image:1", "kernelArguments": ["a"]}})
    file = {"path": "/etc/ignition-machine-config-encapsulated.json", "contents": {"source": f"data:,{quote(config)}"}}
    document = {"ignition": {"version": "3.4.0"}, "storage": {"files": [file]}}
    found = machine_config_in(json.dumps(document).encode())
    assert (found.image, found.kernel_arguments) == ("image:1", ("a",))
    for bad in (b"", b"<html>", b"{}", json.dumps({"storage": {"files": [{**file, "contents": None}]}}).encode()):
        with pytest.raises(Unusable):
            machine_config_in(bad)


PLAIN = ("--cluster-id", CLUSTER_ID, "--host-id", HOST_ID, "--url", "http://hub")


def test_flags_as_the_original_reads_them() -> None:
    settings = installer_settings(
        (*PLAIN, "-role=worker", "--control-plane-count", "3", "--format-disk", "/dev/a", "--format-disk=/dev/b",
         "--installer-args", '["--append-karg","x"]', "--insecure", "--no-proxy", "x", "--http-proxy", "http://p"),
        {"PULL_SECRET_TOKEN": "t"},
    )  # fmt: skip
    assert settings.control_plane_count == 0, "a worker's cluster is never called a single node"
    assert str(settings.infra_env_id) == CLUSTER_ID
    assert settings.disks_to_format == ("/dev/a", "/dev/b")
    assert settings.installer_arguments == ("--append-karg", "x")
    assert settings.insecure
    assert settings.token == "t"
    assert settings.proxies == {"NO_PROXY": "x", "no_proxy": "x"}
    assert settings.child_proxies["http_proxy"] == "http://p"
    assert installer_settings(PLAIN, {}).role == "master"


@pytest.mark.parametrize(
    "words",
    [("--role", "king"), ("--control-plane-count", "x"), ("--installer-args", "{}"), ("--insecure=x",), ("--what",)],
)
def test_flags_that_are_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(Invalid):
        installer_settings((*PLAIN, *words), {})


def test_a_master_of_a_grown_single_node_is_no_single_node() -> None:
    count = ("--control-plane-count", "1")
    assert not installer_settings((*PLAIN, "--role", "master", *count), {}).is_single_node
    assert installer_settings((*PLAIN, "--role", "bootstrap", *count), {}).is_single_node


def test_limits_by_the_service_s_own_variables() -> None:
    found = installer_settings(PLAIN, {"HOST_STAGE_WAITING_FOR_BOOTKUBE_TIMEOUT": "1h30m"}).stage_seconds
    assert found["Waiting for bootkube"] == 5400
    assert found["Writing image to disk"] == 1800
    with pytest.raises(Invalid):
        installer_settings(PLAIN, {"HOST_STAGE_REBOOTING_TIMEOUT": "soon"})
