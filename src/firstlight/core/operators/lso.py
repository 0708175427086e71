"""Local Storage: turns local disks into block volumes for others to use."""

from collections.abc import Mapping, Sequence
from typing import Final

from firstlight.core.model.host import HostState
from firstlight.core.operators.objects import prometheus_access
from firstlight.core.operators.spec import Document, Group, OperatorSpec, Setting
from firstlight.core.versions.feature_ids import FeatureId

NAMESPACE: Final = "openshift-local-storage"


def resources(_hosts: Sequence[HostState], _setting: Setting) -> tuple[Document, ...]:
    volumes = {
        "apiVersion": "local.storage.openshift.io/v1alpha1",
        "kind": "LocalVolumeSet",
        "metadata": {"name": "local-disks", "namespace": NAMESPACE},
        "spec": {
            "storageClassName": "localblock-sc",
            "volumeMode": "Block",
            "deviceInclusionSpec": {"deviceTypes": ["disk"]},
        },
    }
    return (volumes,)


def extras(_setting: Setting) -> Mapping[str, Document]:
    return prometheus_access("lso", namespace=NAMESPACE)


SPEC: Final = OperatorSpec(
    name="lso",
    title="Local Storage",
    feature=FeatureId.LSO,
    namespace=NAMESPACE,
    subscription="local-storage-operator",
    timeout_minutes=70,
    group=Group(name="local-storage", annotations={"olm.providedAPIs": "LocalVolume.v1.local.storage.openshift.io"}),
    monitored_namespace=True,
    resources=resources,
    extras=extras,
)
