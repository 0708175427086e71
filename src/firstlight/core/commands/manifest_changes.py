"""When users may add, change and remove manifests, and which names they may use."""

import base64
import binascii
import re
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from firstlight.core.clusters.usages import with_usages
from firstlight.core.decision import Change, Decision
from firstlight.core.errors import Conflict, Invalid, NotFound
from firstlight.core.events.own import ClusterChanged
from firstlight.core.install.manifests import Folder, require_name, require_size
from firstlight.core.install.system_manifests import SCHEDULER_PATCH, TAG_MIRRORS
from firstlight.core.model.cluster import Cluster, ClusterState
from firstlight.core.model.cluster_status import BEFORE_INSTALLATION
from firstlight.core.operators.manifests import CONFIG_MAP_FILE

WRITTEN_BY_THE_SERVICE: Final = re.compile(
    r"50-(?:master|worker|arbiter)s-(?:chrony-configuration|iscsi-nic-reapply)\.yaml"
    r"|99-openshift-(?:master|worker|arbiter)-(?:tpm|tang)-encryption\.yaml"
    r"|dnsmasq-bootstrap-in-place\.yaml|redirect-telemeter\.yaml"
    rf"|{re.escape(SCHEDULER_PATCH)}|{re.escape(CONFIG_MAP_FILE)}|{re.escape(TAG_MIRRORS)}"
)


class ManifestName(Struct, frozen=True):
    folder: Folder
    file_name: str

    def __str__(self) -> str:
        return f"{self.folder}/{self.file_name}"


class KnownManifest(Struct, frozen=True):
    name: ManifestName
    is_users: bool


Known = Iterable[KnownManifest]


def require_editable(cluster: Cluster) -> None:
    if cluster.status not in BEFORE_INSTALLATION:
        raise Invalid(
            f"Cluster {cluster.name} is {cluster.status}; its manifests can be changed only before the installation "
            "starts. Reset the cluster first."
        )


def require_new_name(name: ManifestName, known: Known, *, besides: ManifestName | None = None) -> None:
    """Refuse a name that cannot be, that is the service's, or that the other folder has. `besides` is being renamed."""
    require_name(name.file_name)
    if WRITTEN_BY_THE_SERVICE.fullmatch(name.file_name):
        raise own_manifest(name)
    for other in known:
        if other.name.file_name != name.file_name or other.name == besides:
            continue
        if not other.is_users:
            raise own_manifest(name)
        if other.name.folder is not name.folder:
            raise Invalid(
                f"Folder {other.name.folder} has a manifest called {name.file_name} already, and both folders end in "
                "the same place. Choose another name."
            )


def own_manifest(name: ManifestName) -> Invalid:
    return Invalid(
        f"The service writes the manifest {name.file_name} itself. Choose another name, or change the service's "
        "through a patch."
    )


def require_target(name: ManifestName, known: Known) -> None:
    """The manifest must exist and be the user's own."""
    found = next((one for one in known if one.name == name), None)
    if found is None:
        raise NotFound(f"The cluster has no manifest {name}.")
    if not found.is_users:
        raise own_manifest(name)


def require_free(name: ManifestName, known: Known) -> None:
    if any(one.name == name for one in known):
        raise Conflict(f"There is a manifest {name} already. Delete it first, or choose another name.")


def decoded_content(file_name: str, content: str) -> bytes:
    """What a request carries as base64; line breaks in it do not matter."""
    try:
        decoded = base64.b64decode(re.sub(r"[\r\n]", "", content), validate=True)
    except (binascii.Error, ValueError):
        raise Invalid(f"The content of manifest {file_name} is not base64. Encode it before sending.") from None
    require_size(file_name, decoded)
    return decoded


def note_change(
    state: ClusterState, *, before: ManifestName | None, after: ManifestName | None, any_left: bool, now: datetime
) -> Decision:
    """What a changed manifest means for the cluster. `any_left` says whether the user has manifests then."""
    require_editable(state.cluster)
    cluster = replace(state.cluster, has_custom_manifests=any_left, updated_at=now)
    return Decision(
        cluster=with_usages(cluster, state.hosts),
        changes=(
            Change(
                event=ClusterChanged(cluster_id=cluster.id, fields="manifests"),
                before={} if before is None else {"manifest": str(before)},
                after={} if after is None else {"manifest": str(after)},
            ),
        ),
    )
