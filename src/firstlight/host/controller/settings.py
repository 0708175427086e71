"""Everything the controller can be told: the original's variables, and two of our own."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final
from uuid import UUID

from msgspec import Struct

from firstlight.core.errors import Invalid
from firstlight.host.flags import FALSE, TRUE
from firstlight.host.root import Root

TOKEN_FILE: Final = "/etc/assisted-installer-controller/token"  # noqa: S105 - a path
BOOTSTRAP_KUBECONFIG: Final = "/tmp/bootstrap-secrets/kubeconfig"  # noqa: S108 - where the job mounts it
LOG_FILE: Final = "/tmp/controller_logs.log"  # noqa: S108 - the original's place
LOOK_SECONDS: Final = "FIRSTLIGHT_CONTROLLER_LOOK_SECONDS"
ROOT: Final = "FIRSTLIGHT_CONTROLLER_ROOT"
AGENT_INSTALLER: Final = "agent-installer"


class ControllerSettings(Struct, frozen=True, kw_only=True):
    cluster_id: UUID
    service_url: str
    openshift_version: str = ""
    token: str = ""
    insecure: bool = False
    ca_certificate: Path | None = None
    namespace: str = "assisted-installer"
    control_plane_count: int = 3
    check_cluster_version: bool = False
    must_gather_image: str = ""
    notify_reboots: bool = False
    kubeconfig: Path | None = None
    """Where one is used instead of the pod's own service account."""
    look_seconds: float = 20.0
    """How often the service is asked, which cannot be watched; everything in the cluster is watched."""

    def __repr__(self) -> str:
        return f"ControllerSettings(cluster_id={self.cluster_id}, service_url={self.service_url!r})"


def controller_settings(environment: Mapping[str, str], *, root: Root) -> ControllerSettings:
    """Raises `Invalid`, naming the variable."""
    return ControllerSettings(
        cluster_id=_identifier(environment, "CLUSTER_ID"),
        service_url=_wanted(environment, "INVENTORY_URL").rstrip("/"),
        openshift_version=environment.get("OPENSHIFT_VERSION", ""),
        token=_token(environment, root),
        insecure=_truth(environment, "SKIP_CERT_VERIFICATION"),
        ca_certificate=_path(environment, "CA_CERT_PATH"),
        namespace=environment.get("NAMESPACE") or "assisted-installer",
        control_plane_count=int(_number(environment, "CONTROL_PLANE_COUNT", default=3)),
        check_cluster_version=_truth(environment, "CHECK_CLUSTER_VERSION"),
        must_gather_image=environment.get("MUST_GATHER_IMAGE", ""),
        notify_reboots=_truth(environment, "NOTIFY_NUM_REBOOTS"),
        kubeconfig=_kubeconfig(environment, root),
        look_seconds=_number(environment, LOOK_SECONDS, default=20.0),
    )


def _token(environment: Mapping[str, str], root: Root) -> str:
    """A mounted file wins, even an empty one; the variable shows in the pod's description."""
    mounted = root.text(TOKEN_FILE)
    return environment.get("PULL_SECRET_TOKEN", "") if mounted is None else mounted.strip()


def _kubeconfig(environment: Mapping[str, str], root: Root) -> Path | None:
    if root.exists(BOOTSTRAP_KUBECONFIG):
        return root.path(BOOTSTRAP_KUBECONFIG)
    return _path(environment, "KUBECONFIG")


def _path(environment: Mapping[str, str], name: str) -> Path | None:
    value = environment.get(name, "")
    return Path(value) if value else None


def _wanted(environment: Mapping[str, str], name: str) -> str:
    value = environment.get(name, "")
    if not value:
        raise Invalid(f"The variable {name} is missing. The job's ConfigMap should carry it.")
    return value


def _identifier(environment: Mapping[str, str], name: str) -> UUID:
    value = _wanted(environment, name)
    try:
        return UUID(value)
    except ValueError:
        raise Invalid(f"The variable {name} has to be a UUID, not '{value}'.") from None


def _truth(environment: Mapping[str, str], name: str) -> bool:
    value = environment.get(name, "")
    if value and value not in TRUE | FALSE:
        raise Invalid(f"The variable {name} is either true or false, not '{value}'.")
    return value in TRUE


def _number(environment: Mapping[str, str], name: str, *, default: float) -> float:
    value = environment.get(name, "")
    try:
        number = float(value) if value else default
    except ValueError:
        number = 0.0
    if not 0 < number < 1e6:
        raise Invalid(f"The variable {name} has to be a number above zero, not '{value}'.")
    return number
