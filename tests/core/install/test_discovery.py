"""discovery.ign: what a booting machine is told."""

import gzip
import json
from bisect import bisect_right
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.errors import Invalid
from firstlight.core.images.cpio import ARCHIVE_LIMIT, ignition_archive
from firstlight.core.install import ignition
from firstlight.core.install.discovery import DiscoveryInputs, discovery_config, render_discovery, without_secrets
from firstlight.core.install.inputs import HostFile, MirrorRegistries, ProxySettings
from firstlight.core.install.static_network import StaticNetwork, full_iso_delivery
from firstlight.core.install.static_network_files import AppliedBy
from firstlight.core.install.unit_files import quoted, unit_file_problem
from tests.core.install.documents import a_document
from tests.core.install.validator import verdict

INFRA_ENV = UUID("5b1e4a3c-0000-4000-8000-0000000000aa")
ANCHORS = "/etc/pki/ca-trust/source/anchors"


def discovery(**changes: object) -> DiscoveryInputs:
    plain = DiscoveryInputs(
        infra_env_id=INFRA_ENV,
        service_url="https://assisted.example.com:8443",
        agent_image="registry.example.com/agent:v1",
        pull_secret='{"auths":{"quay.io":{"auth":"dTpw"}}}',
        ssh_keys="ssh-ed25519 AAAA me\n\n ssh-ed25519 BBBB you \n",
    )
    return msgspec.structs.replace(plain, **changes)


EVERYTHING = discovery(
    agent_token="token",
    service_ca="service ca",
    company_ca="company ca",
    trust_bundle="bundle",
    proxy=ProxySettings(
        http="http://u:p%40ss@proxy:3128", https="http://proxy:3128", no_proxy="a.example.com,10.0.0.0/8"
    ),
    additional_ntp_sources=("ntp.example.com",),
    mirrors=MirrorRegistries(registries_conf="[[registry]]\n", ca_bundle="mirror ca"),
    accept_any_image=True,
    network=full_iso_delivery(
        StaticNetwork(
            files=(HostFile(path="/etc/assisted/network/host0/mac_interface.ini", content=b"A=b\n", mode=0o600),),
            applied_by=AppliedBy.NMSTATE,
        )
    ),
)


def text(config: ignition.Config, path: str) -> str | None:
    content = ignition.content_of(config, path)
    return None if content is None else content.decode()


def agent(config: ignition.Config) -> str:
    return next(unit.contents or "" for unit in config.systemd.units if unit.name == "agent.service")


def test_the_plain_environment() -> None:
    config = discovery_config(discovery())
    assert config.ignition.version == "3.1.0"
    (core,) = config.passwd.users
    assert core.name == "core"
    assert core.ssh_authorized_keys == ("ssh-ed25519 AAAA me", "ssh-ed25519 BBBB you")
    assert text(config, "/root/.docker/config.json") == discovery().pull_secret
    assert {unit.name for unit in config.systemd.units} == {
        "agent.service",
        "selinux.service",
        "multipathd.service",
        "iscsistart.service",
        "oci-eval-user-data.service",
    }
    for absent in ("/etc/containers/registries.conf", "/etc/profile.d/proxy.sh", "/usr/local/bin/add-ntp-sources.sh"):
        assert text(config, absent) is None


def test_the_agent_command() -> None:
    unit = agent(discovery_config(discovery(service_ca="pem")))
    assert unit_file_problem(unit) == ""
    assert (
        'ExecStart=/usr/local/bin/agent --url "https://assisted.example.com:8443" '
        f'--infra-env-id {INFRA_ENV} --agent-version "registry.example.com/agent:v1" --insecure=false '
        "--cacert /etc/assisted-service/service-ca-cert.crt\n"
    ) in unit
    assert "PULL_SECRET_TOKEN" not in unit
    assert "proxy" not in unit.lower()


def test_everything_that_can_be_set_arrives() -> None:
    config = discovery_config(EVERYTHING)
    assert text(config, f"{ANCHORS}/rh-it-root-ca.crt") == "company ca"
    assert text(config, "/etc/assisted-service/service-ca-cert.crt") == "service ca"
    assert text(config, f"{ANCHORS}/assisted-infraenv-additional-trust-bundle.pem") == "bundle"
    assert text(config, f"{ANCHORS}/domain.crt") == "mirror ca"
    assert text(config, "/etc/containers/registries.conf") == "[[registry]]\n"
    assert "insecureAcceptAnything" in (text(config, "/etc/containers/policy.json") or "")
    assert text(config, "/etc/assisted/network/host0/mac_interface.ini") == "A=b\n"
    assert "server ntp.example.com iburst" in (text(config, "/usr/local/bin/add-ntp-sources.sh") or "")
    assert {"add-ntp-sources.service", "pre-network-manager-config.service"} <= {u.name for u in config.systemd.units}
    assert config.ignition.proxy.no_proxy == ("a.example.com", "10.0.0.0/8")
    unit = agent(config)
    assert 'Environment="PULL_SECRET_TOKEN=token"' in unit
    for name in ("http_proxy", "HTTP_PROXY"):
        assert f'Environment="{name}=http://u:p%%40ss@proxy:3128"' in unit
    proxy = next(node for node in config.storage.files if node.path == "/etc/profile.d/proxy.sh")
    assert proxy.mode == 0o644


def test_exclusive_time_sources_replace_the_others() -> None:
    script = text(discovery_config(discovery(ntp_sources=("1.2.3.4",))), "/usr/local/bin/add-ntp-sources.sh") or ""
    assert "> /etc/chrony.conf" in script
    assert ">> /etc/chrony.conf" not in script


def test_another_agent_may_start_ours() -> None:
    config = discovery_config(discovery(agent_starts_at_boot=False))
    assert next(unit.enabled for unit in config.systemd.units if unit.name == "agent.service") is False


def test_the_users_override_comes_last() -> None:
    def motd(word: str) -> str:
        return json.dumps(
            a_document(
                version="3.1.0", storage={"files": [{"path": "/etc/motd", "contents": {"source": f"data:,{word}"}}]}
            )
        )

    config = discovery_config(discovery(internal_override=motd("ironic"), override=motd("mine")))
    assert text(config, "/etc/motd") == "mine"


@pytest.mark.parametrize(
    "override",
    ["{", '{"ignition":{"version":"3.3.0"}}', '{"ignition":{"version":"3.1.0"},"storage":{"files":[{"path":"x"}]}}'],
)
def test_a_broken_override_is_refused(override: str) -> None:
    with pytest.raises(Invalid, match="Ignition config"):
        render_discovery(discovery(override=override))


def test_equal_inputs_give_equal_bytes() -> None:
    assert render_discovery(EVERYTHING) == render_discovery(msgspec.structs.replace(EVERYTHING))


def test_secrets_can_be_left_out() -> None:
    shown = render_discovery(without_secrets(msgspec.structs.replace(EVERYTHING, ssh_keys="ssh-ed25519 SECRETKEY")))
    config = ignition.parse(shown)
    everything = (
        shown.decode() + "".join(text(config, node.path) or "" for node in config.storage.files) + agent(config)
    )
    for secret in ("dTpw", "SECRETKEY", "=token", "company ca"):
        assert secret not in everything


def noise(size: int) -> str:
    """Text that gzip cannot make much smaller."""
    value, digits = 1, []
    for _ in range(size):
        value = (value * 6364136223846793005 + 1442695040888963407) % 2**64
        digits.append("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[value >> 58])
    return "".join(digits)


def test_the_archive_must_fit_into_the_image() -> None:
    def size(length: int) -> int:
        return len(ignition_archive(ignition.encode(discovery_config(discovery(trust_bundle=NOISE[:length])))))

    too_long = bisect_right(range(len(NOISE)), ARCHIVE_LIMIT, key=size)
    assert 0 < too_long < len(NOISE)
    assert render_discovery(discovery(trust_bundle=NOISE[: too_long - 1]))
    with pytest.raises(Invalid, match=f"{size(too_long) - ARCHIVE_LIMIT} more than the {ARCHIVE_LIMIT}") as refused:
        render_discovery(discovery(trust_bundle=NOISE[:too_long]))
    assert f"Shorten what is largest: the trust bundle ({too_long} bytes), the " in str(refused.value)


NOISE = noise(400_000)


@given(st.binary(max_size=200))
def test_the_archive_holds_the_document(document: bytes) -> None:
    archive = ignition_archive(document)
    assert len(archive) % 4 == 0
    plain = gzip.decompress(archive)
    assert plain.startswith(b"070701")
    assert b"config.ign\0" in plain
    assert document in plain


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_a_value_never_breaks_out_of_its_line(value: str) -> None:
    assert "\n" not in quoted(value)
    assert unit_file_problem(f"[Service]\nEnvironment={quoted(value)}\n") == ""


@pytest.mark.peer("ignition")
@pytest.mark.parametrize(
    "inputs", [discovery(), EVERYTHING, discovery(ssh_keys="")], ids=["plain", "everything", "no-keys"]
)
def test_the_peer_accepts_it(inputs: DiscoveryInputs) -> None:
    assert verdict(render_discovery(inputs)) == ""
