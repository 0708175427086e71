"""The Ignition config a machine boots with before anything is installed: it starts the agent and nothing else.

The bytes depend on the inputs alone, so a download that is resumed later continues in the same file.
"""

from collections.abc import Iterator
from typing import Final
from uuid import UUID

import msgspec

from firstlight.core.errors import Invalid
from firstlight.core.images.cpio import ARCHIVE_LIMIT, ignition_archive
from firstlight.core.install import discovery_files as texts
from firstlight.core.install import ignition
from firstlight.core.install.ignition_merge import merge_text
from firstlight.core.install.ignition_models import Config, File, Ignition, Proxy, Unit, User
from firstlight.core.install.inputs import HostFile, MirrorRegistries, ProxySettings, Value
from firstlight.core.install.static_network import NetworkDelivery
from firstlight.core.install.unit_files import argument, environment_line

VERSION: Final = "3.1.0"
SERVICE_CA_PATH: Final = "/etc/assisted-service/service-ca-cert.crt"
TRUST_ANCHORS: Final = "/etc/pki/ca-trust/source/anchors"
LOCKED: Final = "!"
HIDDEN: Final = "*****"


class DiscoveryInputs(Value, frozen=True, kw_only=True):
    """All that one infra-env and the service's settings say about a booting machine."""

    infra_env_id: UUID
    service_url: str
    agent_image: str
    agent_token: str = ""
    """Sent by the agent to identify itself; empty when the service asks nobody who they are."""
    agent_start_seconds: int = 600
    agent_starts_at_boot: bool = True
    """False when another agent (Ironic's) boots first and starts ours later."""
    skip_certificate_verification: bool = False
    service_ca: str = ""
    company_ca: str = ""
    """An authority the operator of the service trusts on every host."""
    pull_secret: str
    ssh_keys: str = ""
    proxy: ProxySettings = ProxySettings()
    trust_bundle: str = ""
    ntp_sources: tuple[str, ...] = ()
    additional_ntp_sources: tuple[str, ...] = ()
    mirrors: MirrorRegistries | None = None
    accept_any_image: bool = False
    """Write a signature policy that refuses nothing; only looked at together with mirrors."""
    network: NetworkDelivery | None = None
    """Static network for images without a ramdisk of their own (full ISO)."""
    internal_override: str = ""
    override: str = ""


def render_discovery(inputs: DiscoveryInputs) -> bytes:
    """discovery.ign. Raises Invalid when the override is refused or the result does not fit into an image."""
    document = ignition.encode(discovery_config(inputs))
    size = len(ignition_archive(document))
    if size > ARCHIVE_LIMIT:
        raise Invalid(
            f"The discovery Ignition config takes {size} bytes when packed, {size - ARCHIVE_LIMIT} more than the"
            f" {ARCHIVE_LIMIT} a live image has room for. Shorten what is largest: {largest_parts(inputs)}."
        )
    return document


def largest_parts(inputs: DiscoveryInputs) -> str:
    """What the user may shorten, the largest first, with its bytes before packing."""
    network = sum(len(part.content) for part in inputs.network.files) if inputs.network else 0
    mirrors = len(inputs.mirrors.registries_conf) + len(inputs.mirrors.ca_bundle) if inputs.mirrors else 0
    sizes = {
        "the Ignition override": len(inputs.override.encode()),
        "the trust bundle": len(inputs.trust_bundle.encode()),
        "the static network": network,
        "the mirror registries": mirrors,
        "the pull secret": len(inputs.pull_secret.encode()),
        "the SSH keys": len(inputs.ssh_keys.encode()),
    }
    ordered = sorted(sizes.items(), key=lambda item: -item[1])[:3]
    return ", ".join(f"{name} ({size} bytes)" for name, size in ordered if size)


def discovery_config(inputs: DiscoveryInputs) -> Config:
    keys = tuple(dict.fromkeys(line.strip() for line in inputs.ssh_keys.splitlines() if line.strip()))
    base = ignition.config(
        VERSION,
        ignition=Ignition(proxy=proxy_section(inputs.proxy)),
        files=files(inputs),
        units=units(inputs),
        users=(User(name="core", password_hash=LOCKED, groups=("sudo",), ssh_authorized_keys=keys),),
    )
    ignition.require_valid(base)
    return merge_text(merge_text(base, inputs.internal_override), inputs.override)


def without_secrets(inputs: DiscoveryInputs) -> DiscoveryInputs:
    """The same inputs, fit for an event or a log."""
    return msgspec.structs.replace(
        inputs,
        pull_secret=HIDDEN,
        ssh_keys=HIDDEN if inputs.ssh_keys else "",
        agent_token=HIDDEN if inputs.agent_token else "",
        company_ca=HIDDEN if inputs.company_ca else "",
    )


def proxy_section(proxy: ProxySettings) -> Proxy:
    if not proxy.is_set:
        return Proxy()
    return Proxy(
        http_proxy=proxy.http or None,
        https_proxy=proxy.https or None,
        no_proxy=tuple(dict.fromkeys(proxy.exceptions)),
    )


def files(inputs: DiscoveryInputs) -> Iterator[File]:
    yield ignition.file(texts.FORGET_BROKEN_IMAGE, texts.forget_broken_image_script(), mode=0o755)
    yield ignition.file(texts.PULL_IMAGE, texts.pull_image_script(), mode=0o755)
    yield ignition.file("/etc/motd", texts.MOTD)
    yield ignition.file("/etc/multipath.conf", texts.MULTIPATH_CONF)
    yield ignition.file(texts.EVALUATE_OCI_USER_DATA, texts.OCI_SCRIPT, mode=0o755)
    yield ignition.file("/etc/NetworkManager/conf.d/01-ipv6.conf", texts.STABLE_IPV6)
    yield ignition.file("/root/.docker/config.json", inputs.pull_secret)
    yield ignition.file("/root/assisted.te", texts.SELINUX_POLICY)
    if inputs.company_ca:
        yield ignition.file(f"{TRUST_ANCHORS}/rh-it-root-ca.crt", inputs.company_ca)
    if inputs.service_ca:
        yield ignition.file(SERVICE_CA_PATH, inputs.service_ca)
    if inputs.trust_bundle:
        yield ignition.file(f"{TRUST_ANCHORS}/assisted-infraenv-additional-trust-bundle.pem", inputs.trust_bundle)
    if inputs.mirrors is not None:
        yield ignition.file("/etc/containers/registries.conf", inputs.mirrors.registries_conf)
        yield ignition.file(f"{TRUST_ANCHORS}/domain.crt", inputs.mirrors.ca_bundle)
        if inputs.accept_any_image:
            yield ignition.file("/etc/containers/policy.json", texts.ACCEPT_ANY_IMAGE)
    if inputs.proxy.is_set:
        yield ignition.file("/etc/profile.d/proxy.sh", texts.proxy_profile(inputs.proxy.environment))
    if inputs.ntp_sources or inputs.additional_ntp_sources:
        script = texts.ntp_script(only=inputs.ntp_sources, additional=inputs.additional_ntp_sources)
        yield ignition.file(texts.ADD_NTP_SOURCES, script, mode=0o755)
    if inputs.network is not None:
        yield from (host_file(part) for part in inputs.network.files)


def host_file(part: HostFile) -> File:
    return ignition.file(part.path, part.content, mode=part.mode)


def units(inputs: DiscoveryInputs) -> Iterator[Unit]:
    yield ignition.unit("agent.service", agent_unit(inputs), enabled=inputs.agent_starts_at_boot)
    yield ignition.unit("selinux.service", texts.SELINUX_UNIT)
    yield ignition.unit("multipathd.service")
    yield ignition.unit("iscsistart.service", texts.ISCSI_UNIT)
    yield ignition.unit("oci-eval-user-data.service", texts.OCI_UNIT)
    if inputs.network is not None:
        yield ignition.unit(inputs.network.unit_name, inputs.network.unit)
    if inputs.ntp_sources or inputs.additional_ntp_sources:
        yield ignition.unit("add-ntp-sources.service", texts.NTP_UNIT)


def agent_unit(inputs: DiscoveryInputs) -> str:
    variables = list(inputs.proxy.environment) if inputs.proxy.is_set else []
    if inputs.agent_token:
        variables.append(("PULL_SECRET_TOKEN", inputs.agent_token))
    image = argument(inputs.agent_image)
    arguments = [
        "--url",
        argument(inputs.service_url),
        "--infra-env-id",
        str(inputs.infra_env_id),
        "--agent-version",
        image,
        f"--insecure={str(inputs.skip_certificate_verification).lower()}",
    ]
    if inputs.service_ca:
        arguments += ["--cacert", SERVICE_CA_PATH]
    return f"""[Unit]
Description=Report this machine to the installation service
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=0

[Service]
Type=simple
Restart=always
RestartSec=3
TimeoutStartSec={inputs.agent_start_seconds}
{"".join(environment_line(name, value) for name, value in variables)}\
ExecStartPre={texts.FORGET_BROKEN_IMAGE} {image}
ExecStartPre={texts.PULL_IMAGE} {image}
ExecStartPre=/usr/bin/podman run --privileged --rm --volume /usr/local/bin:/hostbin {image} cp /usr/bin/agent /hostbin
ExecStart=/usr/local/bin/agent {" ".join(arguments)}

[Install]
WantedBy=multi-user.target
"""
