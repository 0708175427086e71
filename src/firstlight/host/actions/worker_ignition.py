"""Of a worker's Ignition only what the service judges: LUKS devices and a few files. Other secrets stay here."""

from typing import Final, cast

import msgspec

from firstlight.core.errors import Invalid

ACCEPT: Final = "application/vnd.coreos.ignition+json; version=3.2.0"
KEPT_FILES: Final = frozenset(
    {
        "/etc/kubernetes/manifests/coredns.yaml",
        "/etc/kubernetes/manifests/keepalived.yaml",
        "/etc/kubernetes/kubeconfig",
        # Names the operating system image that a day-2 host on persistent storage boots.
        "/etc/ignition-machine-config-encapsulated.json",
    }
)
_SHOWN: Final = 512
_NEWEST_MINOR: Final = 6


def reduced(body: bytes) -> str:
    """The filtered document as JSON text. Raises `Invalid` with the beginning of what is no Ignition."""
    if not body.strip():
        raise Invalid("The Ignition is empty.")
    try:
        whole = msgspec.json.decode(body, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeError, RecursionError) as reason:
        raise Invalid(f"The answer is not an Ignition document in JSON: {_beginning(body)}") from reason
    version = str(_part(whole.get("ignition")).get("version", ""))
    if not is_known(version):
        raise Invalid(f"The answer is not an Ignition document of version 3 ({version!r}): {_beginning(body)}")
    storage = _part(whole.get("storage"))
    files = storage.get("files")
    kept: dict[str, object] = {}
    if isinstance(files, list):
        # Compared as text: what comes from a server need not even be something that can be looked up.
        listed = [item for item in cast(list[object], files) if str(_part(item).get("path")) in KEPT_FILES]
        kept.update({"files": listed} if listed else {})
    if storage.get("luks"):
        kept["luks"] = storage["luks"]
    document = {"ignition": {"version": version}, **({"storage": kept} if kept else {})}
    return msgspec.json.encode(document).decode()


def is_known(version: str) -> bool:
    """3.0.0 and its compatible successors."""
    major, _, rest = version.partition(".")
    minor = rest.partition(".")[0]
    return major == "3" and minor.isascii() and minor.isdigit() and len(minor) < 4 and int(minor) <= _NEWEST_MINOR


def _part(value: object) -> dict[str, object]:
    return cast(dict[str, object], value) if isinstance(value, dict) else {}


def _beginning(body: bytes) -> str:
    return body[:_SHOWN].decode("utf-8", "replace")
