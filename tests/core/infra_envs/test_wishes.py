"""Changing infra-envs: what is kept, what is cleared, and limits at their edges."""

from datetime import timedelta
from typing import Any

import pytest

from firstlight.core.errors import Invalid
from firstlight.core.infra_envs.registration import Grounds, NewInfraEnv, register, update
from firstlight.core.infra_envs.urls import boot_artifacts, image_url
from firstlight.core.infra_envs.wishes import InfraEnvWish, ProxyWish, require_same_architecture
from firstlight.core.model.infra_env import HostNetworkConfig, InfraEnv, KernelArgument, MacInterface
from firstlight.core.versions.configured import configured_catalogue
from tests.builders.clusters import a_cluster, a_policy, an_infra_env
from tests.builders.moments import INFRA_ENV_ID, NOW

SECRET = '{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"}}}'
LATER = NOW + timedelta(minutes=5)


def grounds(**changes: Any) -> Grounds:
    parts: dict[str, Any] = {
        "policy": a_policy(),
        "catalogue": configured_catalogue(),
        "image_service_url": "http://images:8888/",
        "parse_certificate": lambda _: None,
    }
    return Grounds(**(parts | changes))


def new(*, name: str = "lab", architecture: str = "", wish: dict[str, Any] | None = None, **ground: Any) -> InfraEnv:
    asked = NewInfraEnv(id=INFRA_ENV_ID, name=name, cpu_architecture=architecture, user_name="admin")
    made = register(
        asked, InfraEnvWish(**({"pull_secret": SECRET} | (wish or {}))), networks=(), grounds=grounds(**ground), now=NOW
    )
    return made.infra_env


@pytest.mark.parametrize(("length", "fits"), [(0, False), (1, True), (255, True), (256, False)])
def test_names(length: int, fits: bool) -> None:
    if fits:
        assert new(name="a" * length).name == "a" * length
    else:
        with pytest.raises(Invalid, match="1 to 255"):
            new(name="a" * length)


def test_s390x_is_always_a_full_image() -> None:
    assert new(architecture="s390x", default_image_type="minimal-iso").image_type == "full-iso"
    assert new(default_image_type="minimal-iso").image_type == "minimal-iso"


@pytest.mark.parametrize(
    ("wish", "additional", "only"),
    [
        ({}, "ntp.default", ""),
        ({"additional_ntp_sources": "a.b"}, "a.b", ""),
        ({"additional_ntp_sources": ""}, "", ""),
        ({"ntp_sources": "c.d"}, "", "c.d"),
    ],
)
def test_time_sources(wish: dict[str, Any], additional: str, only: str) -> None:
    infra_env = new(wish=wish, default_ntp_source="ntp.default")
    assert (infra_env.additional_ntp_sources, infra_env.ntp_sources) == (additional, only)


@pytest.mark.parametrize(("count", "fits"), [(100, True), (101, False)])
def test_kernel_arguments(count: int, fits: bool) -> None:
    wish = {"kernel_arguments": tuple(KernelArgument("append", f"a{number}") for number in range(count))}
    if fits:
        assert len(new(wish=wish).kernel_arguments) == count
    else:
        with pytest.raises(Invalid, match="101 kernel arguments"):
            new(wish=wish)


@pytest.mark.parametrize(("seconds", "fits"), [(0, True), (3_600, True), (3_601, False)])
def test_waiting_for_the_network(seconds: int, fits: bool) -> None:
    wish = {"network_discovery_delay_seconds": seconds}
    if fits:
        assert new(wish=wish).network_discovery_delay_seconds == seconds
    else:
        with pytest.raises(Invalid, match="3600"):
            new(wish=wish)


def test_static_networks_are_kept_in_the_order_they_were_given_in() -> None:
    first = HostNetworkConfig("a: 1", (MacInterface("52:54:00:00:00:01", "eth0"),))
    second = HostNetworkConfig("b: 1", (MacInterface("52:54:00:00:00:02", "eth0"),))
    wish = InfraEnvWish(static_network=(second, first))
    changed = update(an_infra_env(), wish, networks=[{}, {}], grounds=grounds(), now=LATER)
    assert changed is not None
    assert changed.infra_env.static_network == (second, first)


def test_too_many_described_hosts() -> None:
    config = HostNetworkConfig("a: 1", (MacInterface("52:54:00:00:00:01", "eth0"),))
    wish = InfraEnvWish(static_network=(config,) * 1_001)
    with pytest.raises(Invalid, match="1001 hosts"):
        update(an_infra_env(), wish, networks=[{}] * 1_001, grounds=grounds(), now=LATER)


def test_a_url_that_moved_is_a_change_of_its_own() -> None:
    infra_env = an_infra_env(download_url="http://old/")
    changed = update(infra_env, InfraEnvWish(), networks=(), grounds=grounds(), now=LATER)
    assert changed is not None
    assert changed.infra_env.download_url == image_url(infra_env, base="http://images:8888")
    assert update(changed.infra_env, InfraEnvWish(), networks=(), grounds=grounds(), now=LATER) is None


def test_urls() -> None:
    infra_env = an_infra_env(openshift_version="4.18 odd", cpu_architecture="arm64")
    assert image_url(infra_env, base="http://i/") == f"http://i/byid/{INFRA_ENV_ID}/4.18%20odd/arm64/full.iso"
    artifacts = boot_artifacts(infra_env, base="http://i/")
    assert artifacts.kernel_url == "http://i/boot-artifacts/kernel?arch=arm64&version=4.18+odd"


@pytest.mark.parametrize(
    ("cluster", "architecture", "fits"),
    [
        ("x86_64", "x86_64", True),
        ("x86_64", "arm64", False),
        ("multi", "arm64", True),
        ("multi", "s390x", False),
    ],
)
def test_architectures(cluster: str, architecture: str, fits: bool) -> None:
    known = a_cluster(cpu_architecture=cluster, release_architectures=("x86_64", "arm64"))
    if fits:
        require_same_architecture(architecture, known)
    else:
        with pytest.raises(Invalid, match=architecture):
            require_same_architecture(architecture, known)


def test_any_architecture_suits_a_cluster_that_was_imported() -> None:
    require_same_architecture("arm64", a_cluster(cpu_architecture="multi", release_architectures=()))


def test_no_secret_of_a_change_is_told() -> None:
    before = new(wish={"proxy": ProxyWish(http="http://user:secret@proxy:3128")})
    override = '{"ignition": {"version": "3.2.0"}, "passwd": {"users": [{"name": "core", "passwordHash": "secret"}]}}'
    wish = InfraEnvWish(proxy=ProxyWish(http="http://user:secret2@proxy:3128"), ignition_override=override)
    changed = update(before, wish, networks=(), grounds=grounds(), now=LATER)
    assert changed is not None
    assert changed.infra_env.proxy.http == "http://user:secret2@proxy:3128"
    (change,) = changed.changes
    assert {"proxy", "ignition_override"} <= set(change.after)
    assert "secret" not in f"{change.before} {change.after} {change.event.message}"
