"""The request to install, checked, and the command that starts the installer's container."""

from typing import Final

import msgspec

from firstlight.core.errors import Invalid
from firstlight.core.wire.networks import Proxy
from firstlight.core.wire.reading import Reader, Unreadable
from firstlight.core.wire.step_arguments import InstallCmdRequest
from firstlight.host.actions.action import Site
from firstlight.host.actions.images import is_reference
from firstlight.host.actions.stop import INSTALLER_NAME

_MOUNTS: Final = (
    "/dev:/dev:rw",
    "/opt:/opt:rw",
    "/var/log:/var/log:rw",
    "/run/systemd/journal/socket:/run/systemd/journal/socket",
    "/etc/pki:/etc/pki",
    "/tmp:/tmp:rw",  # noqa: S108 - the folder of the host, where the installer meets its helpers
)
_ROLES: Final = frozenset({"bootstrap", "master", "worker", "arbiter"})
_ARGUMENTS: Final = frozenset(
    {
        "--append-karg",
        "--delete-karg",
        "-n",
        "--copy-network",
        "--network-dir",
        "--save-partlabel",
        "--save-partindex",
        "--image-url",
        "--image-file",
    }
)
_GATHERERS: Final = frozenset({"cnv", "lso", "ocs", "odf", "ocp"})
COPY_NETWORK: Final = "--copy-network"


class InstallRequest(InstallCmdRequest, frozen=True, kw_only=True):
    """As services write it; those of the original write null for an empty list."""

    disks_to_format: tuple[str, ...] = ()
    service_ips: tuple[str, ...] | None = None

    @property
    def devices(self) -> tuple[str, ...]:
        return (self.boot_device, *self.disks_to_format)


_LIST: Final = Reader(tuple[str, ...])
_MAP: Final = Reader(dict[str, str])


def check(request: InstallRequest) -> None:
    """Raises `Invalid` for what the installer must not be started with."""
    if request.role not in _ROLES:
        raise Invalid(f"there is no role {request.role!r}.")
    images = [request.controller_image, request.installer_image]
    images += [image for image in (request.mco_image, request.coreos_image) if image]
    for image in [*images, *_gatherer_images(request.must_gather_image)]:
        if not is_reference(image):
            raise Invalid(f"{image!r} is not the name of an image.")
    for device in request.devices:
        if not device.startswith("/dev/") or ".." in device.split("/"):
            raise Invalid(f"{device!r} is not the path of a device.")
    arguments_of(request)


def arguments_of(request: InstallRequest) -> tuple[str, ...]:
    """The arguments meant for coreos-installer. Raises `Invalid` for flags that are not admitted."""
    if not request.installer_args:
        return ()
    try:
        words = _LIST.read(request.installer_args)
    except Unreadable as reason:
        raise Invalid(f"the installer arguments are not a JSON list of texts: {reason}") from reason
    for word in words:
        if word.startswith("-") and word.partition("=")[0] not in _ARGUMENTS:
            raise Invalid(f"the installer argument {word} is not admitted.")
    return words


def _gatherer_images(text: str) -> tuple[str, ...]:
    """One image, or a JSON object of images by the thing whose data they gather."""
    if not text.startswith("{"):
        return (text,) if text else ()
    try:
        images = _MAP.read(text)
    except Unreadable as reason:
        raise Invalid(f"the must-gather images are not a JSON object of texts: {reason}") from reason
    if unknown := sorted(images.keys() - _GATHERERS):
        raise Invalid(f"there is no must-gather image for {unknown[0]!r}.")
    return tuple(images.values())


def install_command(request: InstallRequest, *, site: Site, copy_network: bool = False) -> tuple[str, ...]:
    """`podman run …`; the token is not among the words but in the environment.

    Signals are not passed on: an agent that is told to end must not take the writing of a disk with it.
    """
    ca = str(site.ca_certificate) if site.ca_certificate is not None else ""
    return (
        *("podman", "run", "--sig-proxy=false", "--privileged", "--pid=host", "--net=host", f"--name={INSTALLER_NAME}"),
        *(word for mount in _MOUNTS for word in ("--volume", mount)),
        *(("--volume", f"{ca}:{ca}:rw") if ca else ()),
        "--env=PULL_SECRET_TOKEN",
        request.installer_image,
        *_flags(request, site=site, ca=ca, copy_network=copy_network),
    )


def _flags(request: InstallRequest, *, site: Site, ca: str, copy_network: bool) -> tuple[str, ...]:
    arguments = arguments_of(request)
    if copy_network and not {COPY_NETWORK, "-n"} & {*arguments}:
        arguments = (*arguments, COPY_NETWORK)
    proxy = request.proxy or Proxy()
    pairs = (
        ("--role", request.role),
        ("--infra-env-id", str(request.infra_env_id)),
        ("--cluster-id", str(request.cluster_id)),
        ("--host-id", str(request.host_id)),
        ("--boot-device", request.boot_device),
        ("--url", site.service_url),
        ("--controller-image", request.controller_image),
        ("--agent-image", site.agent_image),
        ("--control-plane-count", str(request.control_plane_count or "")),
        ("--mco-image", request.mco_image),
        ("--must-gather-image", request.must_gather_image),
        ("--openshift-version", request.openshift_version),
        *(("--format-disk", disk) for disk in request.disks_to_format),
        ("--cacert", ca),
        ("--installer-args", msgspec.json.encode(arguments).decode() if arguments else ""),
        ("--http-proxy", proxy.http_proxy or ""),
        ("--https-proxy", proxy.https_proxy or ""),
        ("--no-proxy", proxy.no_proxy or ""),
        ("--service-ips", ",".join(request.service_ips or ())),
        ("--coreos-image", request.coreos_image),
    )
    switches = (
        ("--insecure", site.insecure),
        ("--check-cluster-version", bool(request.check_cvo)),
        ("--skip-installation-disk-cleanup", request.skip_installation_disk_cleanup),
        ("--enable-skip-mco-reboot", request.enable_skip_mco_reboot),
        ("--notify-num-reboots", request.notify_num_reboots),
    )
    return (
        *(word for pair in pairs if pair[1] for word in pair),
        *(flag for flag, given in switches if given),
    )
