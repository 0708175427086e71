"""The kinds of objects that installations are made with, and what each must hold to be of use an hour later.

Kinds that are not listed pass. So do members that are not listed: newer versions may have them.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from firstlight.core.install import ignition
from firstlight.core.install.documents import mapping
from firstlight.core.install.ignition_checks import problems
from firstlight.core.install.ignition_models import Config
from firstlight.core.install.shapes import (
    LABELS,
    SELECTOR,
    Check,
    any_mapping,
    anything,
    fields,
    filled_text,
    flag,
    in_base64,
    list_of,
    map_of,
    one_of,
    text,
    text_or_number,
    whole_number,
)

OTHER_VERSIONS: Final = ("3.0.0", "3.3.0", "3.4.0", "3.5.0")
"""Versions of Ignition that the machine-config operator reads and we know the outline of only."""


def ignition_config(value: object, place: str) -> Iterator[str]:
    """A config inside another document; an empty one is what objects with kernel arguments only have."""
    if not (members := mapping(value)):
        yield from any_mapping(value, place)
        return
    version = mapping(members.get("ignition")).get("version")
    if not isinstance(version, str) or not version:
        yield f"{place}.ignition.version is missing; name the version of Ignition, such as 3.2.0"
    elif version in (*ignition.SUPPORTED_VERSIONS, *OTHER_VERSIONS):
        yield from (found.replace("$", place, 1) for found in _config_problems(members, version=version))
    elif not version.startswith(("2.", "3.")):
        yield f"{place}.ignition.version is {version}, which no version of Ignition is called"


def _config_problems(members: object, *, version: str) -> Iterator[str]:
    try:
        config = msgspec.convert(ignition.tidy(members), Config, strict=True)
    except msgspec.ValidationError as problem:
        reason, _, where = str(problem).partition(" - at ")
        yield f"{where.strip('`') or '$'}: {reason}"
        return
    if version in ignition.SUPPORTED_VERSIONS:
        yield from problems(ignition.limit_to_version(config, version=version))


def _spec(required: Mapping[str, Check] | None = None, optional: Mapping[str, Check] | None = None) -> Check:
    """`spec` must be there if something in it must."""
    inner = fields(required, optional)
    return fields({"spec": inner}) if required else fields(optional={"spec": inner})


def _mirrors(member: str) -> Check:
    entry = fields(
        {"source": filled_text},
        {"mirrors": list_of(filled_text), "mirrorSourcePolicy": one_of("AllowContactingSource", "NeverContactSource")},
    )
    return _spec(optional={member: list_of(entry)})


MACHINE_CONFIG: Final = _spec(
    optional={
        "config": ignition_config,
        "kernelArguments": list_of(text),
        "extensions": list_of(text),
        "fips": flag,
        "kernelType": one_of("default", "realtime", "64k-pages", ""),
        "osImageURL": text,
        "baseOSExtensionsContainerImage": text,
    }
)
CONTAINER_RUNTIME: Final = fields(
    optional={
        "pidsLimit": whole_number,
        "logLevel": one_of("fatal", "panic", "error", "warn", "info", "debug", "trace"),
        "logSizeMax": text_or_number,
        "overlaySize": text_or_number,
        "defaultRuntime": text,
    }
)

MACHINES, CONFIG, OPERATOR = "machineconfiguration.openshift.io", "config.openshift.io", "operator.openshift.io"
OLM, NMSTATE = "operators.coreos.com", "nmstate.io"

KINDS: Final[Mapping[tuple[str, str], Check]] = {
    ("", "Namespace"): anything,
    ("", "ConfigMap"): fields(optional={"data": map_of(text), "binaryData": map_of(in_base64), "immutable": flag}),
    ("", "Secret"): fields(
        optional={"data": map_of(in_base64), "stringData": map_of(text), "type": text, "immutable": flag}
    ),
    (MACHINES, "MachineConfig"): MACHINE_CONFIG,
    (MACHINES, "MachineConfigPool"): _spec(
        optional={
            "machineConfigSelector": SELECTOR,
            "nodeSelector": SELECTOR,
            "paused": flag,
            "maxUnavailable": text_or_number,
        }
    ),
    (MACHINES, "KubeletConfig"): _spec(
        optional={
            "machineConfigPoolSelector": SELECTOR,
            "kubeletConfig": any_mapping,
            "autoSizingReserved": flag,
            "logLevel": whole_number,
            "tlsSecurityProfile": any_mapping,
        }
    ),
    (MACHINES, "ContainerRuntimeConfig"): _spec(
        {"containerRuntimeConfig": CONTAINER_RUNTIME}, {"machineConfigPoolSelector": SELECTOR}
    ),
    (CONFIG, "ImageDigestMirrorSet"): _mirrors("imageDigestMirrors"),
    (CONFIG, "ImageTagMirrorSet"): _mirrors("imageTagMirrors"),
    (OPERATOR, "ImageContentSourcePolicy"): _mirrors("repositoryDigestMirrors"),
    (OLM, "CatalogSource"): _spec(
        {"sourceType": one_of("grpc", "internal", "configmap")},
        {
            "image": text,
            "address": text,
            "configMap": text,
            "displayName": text,
            "publisher": text,
            "priority": whole_number,
            "secrets": list_of(text),
        },
    ),
    (OLM, "Subscription"): _spec(
        {"name": filled_text, "source": filled_text, "sourceNamespace": filled_text},
        {"channel": text, "startingCSV": text, "installPlanApproval": one_of("Automatic", "Manual")},
    ),
    (OLM, "OperatorGroup"): _spec(
        optional={"targetNamespaces": list_of(text), "selector": SELECTOR, "serviceAccountName": text}
    ),
    (NMSTATE, "NodeNetworkConfigurationPolicy"): _spec(
        optional={"nodeSelector": LABELS, "desiredState": any_mapping, "capture": map_of(text)}
    ),
    (NMSTATE, "NMState"): _spec(optional={"nodeSelector": LABELS}),
}
"""By API group and kind."""
