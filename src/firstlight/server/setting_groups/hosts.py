"""What discovered hosts are given to run and told to do."""

from datetime import timedelta
from pathlib import Path
from uuid import UUID

from pydantic import Field

from firstlight.server.setting_groups.group import SettingGroup, also
from firstlight.server.setting_types import CommaList, Duration


class HostSettings(SettingGroup):
    service_ca_cert_path: Path | None = also("SERVICE_CA_CERT_PATH", "SERVICE_CA_CERT_PATH", default=None)
    """PEM file with the authority that signed the service's certificate; hosts are given it."""
    skip_cert_verification: bool = also("SKIP_CERT_VERIFICATION", "SKIP_CERT_VERIFICATION", default=False)
    """Hosts do not check the service's certificate."""
    agent_image: str = also(
        "AGENT_IMAGE", "AGENT_DOCKER_IMAGE", default="quay.io/edge-infrastructure/assisted-installer-agent:latest"
    )
    """The agent that discovered hosts run."""
    agent_timeout_start: Duration = also("AGENT_TIMEOUT_START", "AGENT_TIMEOUT_START", default=timedelta(minutes=10))
    """How long a booted host may take to fetch and start its agent before it tries again."""
    hosts_ca_path: Path | None = None
    """PEM file with authorities that every discovered host trusts."""
    accept_any_image: bool = also("ACCEPT_ANY_IMAGE", "FORCE_INSECURE_POLICY_JSON", default=False)
    """With mirrors: hosts check no signatures of container images."""
    installer_image: str = also(
        "INSTALLER_IMAGE", "INSTALLER_IMAGE", default="quay.io/edge-infrastructure/assisted-installer:latest"
    )
    """The installer that hosts run."""
    controller_image: str = also(
        "CONTROLLER_IMAGE",
        "CONTROLLER_IMAGE",
        default="quay.io/edge-infrastructure/assisted-installer-controller:latest",
    )
    """The controller that runs in the new cluster."""
    poll_seconds: int = Field(default=60, ge=1, le=600)
    """How often a calm agent asks."""
    disabled_steps: CommaList = also("DISABLED_STEPS", "DISABLED_STEPS", default=())
    """Agent steps that are never handed out."""
    upgrade_agent: bool = also("UPGRADE_AGENT", "ENABLE_UPGRADE_AGENT", default=True)
    """Ask agents of another version to upgrade themselves."""
    inventory_max_size: int = also("INVENTORY_MAX_SIZE", "AGENT_INVENTORY_MAX_SIZE", default=0, ge=0)
    """Bytes an agent's inventory may have; 0 means no limit of the agent's own."""
    inventory_disk_min_size: int = also("INVENTORY_DISK_MIN_SIZE", "AGENT_INVENTORY_DISK_MIN_SIZE", default=0, ge=0)
    """Bytes below which agents leave disks out of a long inventory."""
    host_max_disconnection_time: Duration = also(
        "HOST_MAX_DISCONNECTION_TIME", "HOST_MAX_DISCONNECTION_TIME", default=timedelta(minutes=3)
    )
    """Silence after which a host counts as disconnected."""
    infra_env_id: UUID | None = also("INFRA_ENV_ID", "INFRA_ENV_ID", default=None)
    """The id the one infra-env of an appliance gets; others get a new one each."""
