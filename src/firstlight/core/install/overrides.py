"""The user's changes to install-config: a strict tree of keys, and merging as the original's decoder does it.

Objects merge, scalars replace, null does nothing; a list takes the override's length and its objects merge by index.
"""

import json
from collections.abc import Mapping
from typing import Final

from firstlight.core.errors import Invalid
from firstlight.core.install.documents import Document, is_mapping, is_sequence, mapping, sequence
from firstlight.core.install.inputs import Value


class Leaf(Value, frozen=True, kw_only=True):
    """A single value of one JSON type."""

    type: type
    called: str


class ListOf(Value, frozen=True, kw_only=True):
    item: "Shape"


Shape = Leaf | ListOf | Mapping[str, "Shape"]

TEXT: Final = Leaf(type=str, called="a string")
NUMBER: Final = Leaf(type=int, called="a whole number")
FLAG: Final = Leaf(type=bool, called="true or false")
TEXTS: Final = ListOf(item=TEXT)

POOL: Final[Mapping[str, Shape]] = {"hyperthreading": TEXT, "name": TEXT, "replicas": NUMBER}
VIPS: Final[Mapping[str, Shape]] = {"apiVIPs": TEXTS, "apiVIP": TEXT, "ingressVIPs": TEXTS, "ingressVIP": TEXT}
BALANCER: Final[Mapping[str, Shape]] = {"type": TEXT}
ENDPOINT: Final[Mapping[str, Shape]] = {"address": TEXT, "port": NUMBER}
IMAGE_SOURCES: Final = ListOf(item={"source": TEXT, "mirrors": TEXTS})
FENCING: Final[Mapping[str, Shape]] = {
    "hostname": TEXT,
    "macAddress": TEXT,
    "address": TEXT,
    "username": TEXT,
    "password": TEXT,
    "certificateVerification": TEXT,
}
BAREMETAL: Final[Mapping[str, Shape]] = {
    **VIPS,
    "provisioningNetwork": TEXT,
    "hosts": ListOf(
        item={
            "name": TEXT,
            "role": TEXT,
            "bootMACAddress": TEXT,
            "bootMode": TEXT,
            "hardwareProfile": TEXT,
            "bmc": {"username": TEXT, "password": TEXT, "address": TEXT, "disableCertificateVerification": FLAG},
        }
    ),
    "clusterOSImage": TEXT,
    "clusterProvisioningIP": TEXT,
    "provisioningNetworkInterface": TEXT,
    "provisioningNetworkCIDR": TEXT,
    "provisioningDHCPRange": TEXT,
    "additionalNTPServers": TEXTS,
    "loadBalancer": BALANCER,
}
VSPHERE: Final[Mapping[str, Shape]] = {
    **VIPS,
    **dict.fromkeys(
        ("vCenter", "username", "password", "datacenter", "defaultDatastore", "folder", "network", "cluster"), TEXT
    ),
    "failureDomains": ListOf(
        item={
            **dict.fromkeys(("name", "region", "server", "zone"), TEXT),
            "topology": {
                **dict.fromkeys(("computeCluster", "datacenter", "datastore", "folder", "resourcePool"), TEXT),
                "networks": TEXTS,
            },
        }
    ),
    "vcenters": ListOf(
        item={"datacenters": TEXTS, "password": TEXT, "port": NUMBER, "server": TEXT, "user": TEXT},
    ),
    "loadBalancer": BALANCER,
}
NUTANIX: Final[Mapping[str, Shape]] = {
    **VIPS,
    "prismCentral": {"endpoint": ENDPOINT, "username": TEXT, "password": TEXT},
    "prismElements": ListOf(item={"endpoint": ENDPOINT, "uuid": TEXT, "name": TEXT}),
    "subnetUUIDs": TEXTS,
}
KEYS: Final[Mapping[str, Shape]] = {
    "apiVersion": TEXT,
    "baseDomain": TEXT,
    "proxy": {"httpProxy": TEXT, "httpsProxy": TEXT, "noProxy": TEXT},
    "networking": {
        "networkType": TEXT,
        "clusterNetwork": ListOf(item={"cidr": TEXT, "hostPrefix": NUMBER}),
        "machineNetwork": ListOf(item={"cidr": TEXT}),
        "serviceNetwork": TEXTS,
    },
    "metadata": {"name": TEXT},
    "compute": ListOf(item=POOL),
    "controlPlane": {**POOL, "fencing": {"credentials": ListOf(item=FENCING)}},
    "arbiter": POOL,
    "platform": {
        "baremetal": BAREMETAL,
        "none": {},
        "vsphere": VSPHERE,
        "nutanix": NUTANIX,
        "external": {"platformName": TEXT, "cloudControllerManager": TEXT},
    },
    "bootstrapInPlace": {"installationDisk": TEXT},
    "fips": FLAG,
    "cpuPartitioningMode": TEXT,
    "pullSecret": TEXT,
    "sshKey": TEXT,
    "additionalTrustBundle": TEXT,
    "additionalTrustBundlePolicy": TEXT,
    "imageContentSources": IMAGE_SOURCES,
    "imageDigestSources": IMAGE_SOURCES,
    "capabilities": {"baselineCapabilitySet": TEXT, "additionalEnabledCapabilities": TEXTS},
    "featureSet": TEXT,
    "featureGates": TEXTS,
    "osImageStream": TEXT,
}


def parse_override(text: str) -> Document:
    """The override with its keys spelled as install-config does. Raises Invalid naming the first wrong place."""
    if not text.strip():
        return {}
    try:
        document: object = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise Invalid(f"The install-config override is not valid JSON: {problem}.") from problem
    if not is_mapping(document):
        raise Invalid("The install-config override must be a JSON object.")
    return mapping(normal(document, KEYS, place=""))


def apply_override(document: Document, text: str) -> Document:
    """`document` with the override merged in; the empty text changes nothing."""
    return mapping(merged(document, parse_override(text)))


def normal(value: object, shape: Shape, *, place: str) -> object:
    """Check `value` against `shape` and bring keys into their spelling; null members vanish."""
    match shape:
        case Leaf():
            # In JSON, true is no number, though Python counts it as one.
            if not isinstance(value, shape.type) or (shape.type is int and isinstance(value, bool)):
                raise Invalid(f"The install-config override needs {shape.called} at {place}.")
            return value
        case ListOf():
            if not is_sequence(value):
                raise Invalid(f"The install-config override needs a list at {place}.")
            return [
                blank(shape.item) if item is None else normal(item, shape.item, place=f"{place}[{index}]")
                for index, item in enumerate(sequence(value))
            ]
        case _:
            if not is_mapping(value):
                raise Invalid(f"The install-config override needs an object at {place}.")
            return normal_members(mapping(value), shape, place=place)


def normal_members(members: Document, shape: Mapping[str, Shape], *, place: str) -> Document:
    spelled = {key.lower(): key for key in shape}
    result: Document = {}
    for key, value in members.items():
        where = f"{place}.{key}" if place else key
        name = key if key in shape else spelled.get(key.lower())
        if name is None:
            raise Invalid(
                f"The install-config override has the key {where}, which install-config does not know. "
                f"Known there: {', '.join(sorted(shape)) or 'nothing'}."
            )
        if value is not None:
            # The same key in two spellings: the later is merged onto the earlier, as they are read in order.
            result[name] = merged(result.get(name), normal(value, shape[name], place=where))
    return result


def blank(shape: Shape) -> object:
    """What a null list element stands for: an object keeps the generated one, a text is empty."""
    return "" if isinstance(shape, Leaf) else {}


def merged(value: object, override: object) -> object:
    if is_mapping(override) and (value is None or is_mapping(value)):
        result = mapping(value)
        for key, item in mapping(override).items():
            result[key] = merged(result.get(key), item)
        return result
    if is_sequence(override):
        known = sequence(value)
        return [
            merged(known[index] if index < len(known) else None, item) for index, item in enumerate(sequence(override))
        ]
    return override
