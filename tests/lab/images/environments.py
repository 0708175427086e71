"""A service whose only OS images are stand-ins, and the environments that the tests boot."""

import json
import urllib.error
import urllib.request
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from gzip import decompress
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit, urlunsplit
from uuid import uuid4

from lab.live_iso import BUILD, QUIET
from lab.machines import GATEWAY, DirectBoot
from tests.peers import peer_path
from tests.services import RunningService, loopback_listeners, run_service
from tests.worlds import PULL_SECRET

VERSION = "4.18"
OLD_VERSION = "4.17"
"""Hosts before 4.18 get their static network as NetworkManager's own files."""
OLD_BUILD = BUILD.replace("418.", "417.")
SSH_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGZpcnN0bGlnaHQgbGFiIGtleTogbm9ib2R5IGhhcyAh lab@example"
ARGUMENTS = ("lab.first=1", 'lab.second="two words"', "console=ttyS0,115200n8", *QUIET.split())
"""With quotes, and those that make an emulated machine quick also where no image brings them."""


@dataclass(frozen=True, slots=True)
class Environment:
    """An infra-env. Its URLs are those of its machines; from here they are asked on the loopback."""

    service: RunningService
    id: str
    architecture: str

    def get(self, path: str) -> bytes:
        return fetch(f"{self.service.api}/v2/infra-envs/{self.id}{path}")

    @property
    def document(self) -> dict[str, Any]:
        return json.loads(self.get(""))

    def ignition(self, image_type: str = "") -> bytes:
        kind = f"&discovery_iso_type={image_type}" if image_type else ""
        return self.get(f"/downloads/files?file_name=discovery.ign{kind}")

    def image(self, name: str, folder: Path) -> Path:
        """The ISO at the address that the API gives for this environment, in one of its forms."""
        address = self.document["download_url"]
        target = folder / f"{self.architecture}-{name}"
        return download(f"{address.rpartition('/')[0]}/{name}", target)

    def network_boot(self, folder: Path) -> DirectBoot:
        """Kernel, initrd and arguments, as an iPXE client would read them from the script."""
        script = self.get("/downloads/files?file_name=ipxe-script").decode()
        lines = {words[0]: words[1:] for line in script.splitlines() if (words := line.split())}
        kernel, *arguments = lines["kernel"]
        return DirectBoot(
            kernel=download(kernel, folder / "vmlinuz"),
            initrd=download(lines["initrd"][-1], folder / "initrd.img"),
            arguments=" ".join(word for word in arguments if not word.startswith("initrd=")),
        )


def create(service: RunningService, *, architecture: str = "x86_64", **fields: Any) -> Environment:
    """`fields` as the API takes them."""
    body = {
        "name": f"lab-{architecture}-{uuid4().hex[:8]}",
        "pull_secret": PULL_SECRET,
        "ssh_authorized_key": SSH_KEY,
        "openshift_version": VERSION,
        "cpu_architecture": architecture,
        "image_type": "full-iso",
        "additional_ntp_sources": "10.0.2.3",
        "kernel_arguments": [{"operation": "append", "value": value} for value in ARGUMENTS],
        **fields,
    }
    created = post(service, "/infra-envs", body)
    return Environment(service, created["id"], architecture)


def static_network(addresses: Mapping[str, str]) -> list[dict[str, Any]]:
    """One machine per MAC address, each with one IPv4 address and without DHCP."""
    return [
        {"network_yaml": json.dumps(_one_card(address)), "mac_interface_map": [_named(mac)]}
        for mac, address in addresses.items()
    ]


def _named(mac: str) -> dict[str, str]:
    return {"mac_address": mac, "logical_nic_name": "nic0"}


def _one_card(address: str) -> dict[str, Any]:
    ipv4 = {"enabled": True, "dhcp": False, "address": [{"ip": address, "prefix-length": 24}]}
    card = {"name": "nic0", "type": "ethernet", "state": "up", "ipv4": ipv4, "ipv6": {"enabled": False}}
    return {"interfaces": [card]}


@contextmanager
def running_service(folder: Path, images: dict[str, Path], **more: str) -> Iterator[RunningService]:
    """Hosts are told the address at which virtual machines find this machine's loopback. `more` settings win."""
    listeners = loopback_listeners()
    ports = {name: address.rpartition(":")[2] for name, address in listeners.items()}
    os_images = [
        {"openshift_version": VERSION, "cpu_architecture": name, "version": BUILD, "url": path.as_uri()}
        for name, path in images.items()
    ]
    os_images.append(os_images[0] | {"openshift_version": OLD_VERSION, "version": OLD_BUILD})
    settings = {
        "FIRSTLIGHT_NMSTATECTL": str(peer_path("nmstatectl")),
        "OS_IMAGES": json.dumps(os_images),
        "SERVICE_BASE_URL": f"http://{GATEWAY}:{ports['FIRSTLIGHT_LISTEN']}",
        "IMAGE_SERVICE_BASE_URL": f"http://{GATEWAY}:{ports['FIRSTLIGHT_IMAGES_LISTEN']}",
    }
    with run_service(folder, **listeners, **(settings | more)) as service:
        yield service


def ports_of(service: RunningService) -> list[int]:
    return [int(url.rpartition(":")[2]) for url in (service.url, service.images_url)]


def post(service: RunningService, path: str, body: dict[str, Any]) -> dict[str, Any]:
    data, headers = json.dumps(body).encode(), {"Content-Type": "application/json"}
    return json.loads(_open(urllib.request.Request(f"{service.api}/v2{path}", data, headers)))


def fetch(url: str) -> bytes:
    """A machine's URL, asked from here."""
    parts = urlsplit(url)
    here = urlunsplit(parts._replace(netloc=parts.netloc.replace(GATEWAY, "127.0.0.1")))
    return _open(urllib.request.Request(here))


def _open(request: urllib.request.Request) -> bytes:
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.read()
    except urllib.error.HTTPError as refused:
        raise AssertionError(f"{request.full_url} answered {refused.code}: {refused.read()!r}") from None


def download(url: str, target: Path) -> Path:
    target.write_bytes(fetch(url))
    return target


def create_cluster(service: RunningService) -> str:
    """The id of a cluster to bind environments to."""
    body = {
        "name": "lab",
        "openshift_version": VERSION,
        "base_dns_domain": "lab.example",
        "pull_secret": PULL_SECRET,
        "ssh_public_key": SSH_KEY,
    }
    return post(service, "/clusters", body)["id"]


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that a config tells Ignition to write."""

    path: str
    content: bytes
    mode: int


def files_of(config: bytes) -> list[WrittenFile]:
    """What a machine that booted with this config must have, units included."""
    document = json.loads(config)
    files = [
        WrittenFile(one["path"], _content(one.get("contents", {})), one.get("mode", 0o644))
        for one in document.get("storage", {}).get("files", ())
    ]
    units: Sequence[dict[str, Any]] = document.get("systemd", {}).get("units", ())
    return files + [
        WrittenFile(f"/etc/systemd/system/{one['name']}", one["contents"].encode(), 0o644)
        for one in units
        if one.get("contents")
    ]


def enabled_units(config: bytes) -> set[str]:
    units = json.loads(config).get("systemd", {}).get("units", ())
    return {one["name"] for one in units if one.get("enabled") and "[Install]" in one.get("contents", "")}


def _content(contents: dict[str, Any]) -> bytes:
    scheme, _, text = contents.get("source", "data:,").partition(",")
    data = b64decode(text) if scheme.endswith(";base64") else unquote_to_bytes(text)
    return decompress(data) if contents.get("compression") == "gzip" else data
