"""Every combination of what an infra-env can say gives a config that Ignition's own validator accepts."""

import json

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firstlight.core.errors import Invalid
from firstlight.core.install import ignition
from firstlight.core.install.discovery import DiscoveryInputs, render_discovery
from firstlight.core.install.inputs import MirrorRegistries, ProxySettings
from firstlight.core.install.keyfiles import Keyfile
from firstlight.core.install.static_network import (
    HostNetwork,
    MacMapping,
    connected_network,
    described_network,
    full_iso_delivery,
)
from tests.core.install.documents import a_document
from tests.core.install.test_discovery import discovery
from tests.core.install.validator import verdict

CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
HOST = HostNetwork(
    network_yaml="", mac_interface_map=(MacMapping(mac_address="02:00:00:80:12:1a", logical_nic_name="eth0"),)
)
NETWORKS = (
    None,
    full_iso_delivery(connected_network([HOST], [[Keyfile(name="eth0.nmconnection", content="[connection]\nid=ü\n")]])),
    full_iso_delivery(described_network([HOST, HOST], [{}, {"interfaces": []}])),
)
MIRRORS = MirrorRegistries(registries_conf='[[registry]]\nlocation = "quay.io"\n', ca_bundle=CERTIFICATE)

printable = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=20)
urls = st.sampled_from(["", "http://proxy.example.com:3128", "http://u:p%40%25ss@[2001:db8::1]:3128"])
domains = st.sampled_from(["", "*", "example.com,.lab.local,10.0.0.0/8", "2001:db8::/32"])
sources = st.lists(st.sampled_from(["ntp.example.com", "192.0.2.1", "2001:db8::1"]), unique=True).map(tuple)


def an_override(version: str, *, path: str = "/etc/motd", **more: object) -> str:
    storage = {"files": [{"path": path, "mode": 420, "contents": {"source": "data:,mine"}}]}
    return json.dumps(a_document(version=version, storage=storage, **more))


OVERRIDES = (
    "",
    an_override("3.1.0"),
    an_override("3.2.0", path="/etc/new"),
    an_override(
        "3.1.0", systemd={"units": [{"name": "agent.service", "dropins": [{"name": "a.conf", "contents": ""}]}]}
    ),
    an_override("3.2.0", passwd={"users": [{"name": "core", "sshAuthorizedKeys": ["ssh-ed25519 CCCC"]}]}),
)


@st.composite
def inputs(draw: st.DrawFn) -> DiscoveryInputs:
    exclusive = draw(st.booleans())
    return discovery(
        agent_token=draw(printable),
        agent_image=draw(st.sampled_from(["quay.io/x/agent:latest", "registry.example.com:5000/a@sha256:" + "0" * 64])),
        service_url=draw(st.sampled_from(["http://192.0.2.1:8090", "https://[2001:db8::1]", "https://x.org/a b$c%d"])),
        agent_start_seconds=draw(st.integers(1, 86_400)),
        agent_starts_at_boot=draw(st.booleans()),
        skip_certificate_verification=draw(st.booleans()),
        service_ca=draw(st.sampled_from(["", CERTIFICATE])),
        company_ca=draw(st.sampled_from(["", CERTIFICATE])),
        trust_bundle=draw(st.sampled_from(["", CERTIFICATE * 2])),
        pull_secret=draw(st.sampled_from(["{}", '{"auths":{"a":{"auth":"%41,#?&"}}}'])),
        ssh_keys=draw(st.sampled_from(["", "ssh-ed25519 AAAA me", "ssh-rsa A\n\nssh-rsa A\r\nssh-rsa B ü"])),
        proxy=ProxySettings(http=draw(urls), https=draw(urls), no_proxy=draw(domains)),
        ntp_sources=draw(sources) if exclusive else (),
        additional_ntp_sources=() if exclusive else draw(sources),
        mirrors=draw(st.sampled_from([None, MIRRORS])),
        accept_any_image=draw(st.booleans()),
        network=draw(st.sampled_from(NETWORKS)),
        internal_override=draw(st.sampled_from(OVERRIDES)),
        override=draw(st.sampled_from(OVERRIDES)),
    )


@pytest.mark.peer("ignition")
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(inputs())
def test_the_validator_accepts_it(given_inputs: DiscoveryInputs) -> None:
    document = render_discovery(given_inputs)
    assert verdict(document) == ""
    assert render_discovery(msgspec.structs.replace(given_inputs)) == document
    config = ignition.parse(document)
    paths = [node.path for node in config.storage.files]
    assert len(paths) == len({*paths})
    present = {
        "/etc/profile.d/proxy.sh": given_inputs.proxy.is_set,
        "/etc/containers/registries.conf": given_inputs.mirrors is not None,
        "/etc/containers/policy.json": given_inputs.mirrors is not None and given_inputs.accept_any_image,
        "/usr/local/bin/add-ntp-sources.sh": bool(given_inputs.ntp_sources or given_inputs.additional_ntp_sources),
        "/etc/assisted/network/host0/mac_interface.ini": given_inputs.network is not None,
        "/etc/new": "/etc/new" in given_inputs.override + given_inputs.internal_override,
    }
    assert {path: path in paths for path in present} == present
    # The child's version wins, also when it is the lower one.
    named = [one for one in (given_inputs.override, given_inputs.internal_override) if one]
    assert config.ignition.version == (json.loads(named[0])["ignition"]["version"] if named else "3.1.0")


@pytest.mark.parametrize("version", ["2.2.0", "3.0.0", "3.3.0", "3.4.0", "3.6.0-experimental", "", "4"])
def test_overrides_of_other_versions_are_refused(version: str) -> None:
    with pytest.raises(Invalid, match=r"3\.1\.0.*3\.2\.0"):
        render_discovery(discovery(override=an_override(version)))


def test_an_override_changes_what_it_names_and_nothing_else() -> None:
    plain, changed = (ignition.parse(render_discovery(discovery(override=one))) for one in ("", OVERRIDES[1]))
    before = {node.path: node for node in plain.storage.files}
    after = {node.path: node for node in changed.storage.files}
    assert {path for path in after if after[path] != before.get(path)} == {"/etc/motd"}
    assert [node.path for node in changed.storage.files] == [node.path for node in plain.storage.files]
    assert changed.systemd == plain.systemd
    assert ignition.content_of(changed, "/etc/motd") == b"mine"
