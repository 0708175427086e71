"""Who may call, with which tokens."""

from datetime import timedelta
from typing import Literal

from pydantic import SecretStr

from firstlight.server.setting_groups.group import SettingGroup, also
from firstlight.server.setting_types import Duration


class AccessSettings(SettingGroup):
    auth_type: Literal["none", "local", "agent-installer-local"] = also("AUTH_TYPE", "AUTH_TYPE", default="none")
    """Who may call: `none` lets everybody in, so keep the listener on loopback or put a proxy with a login before it.
    `local` asks for tokens that the service signs itself; `agent-installer-local` for those of the agent-based
    installer."""
    ec_public_key_pem: str = also("EC_PUBLIC_KEY_PEM", "EC_PUBLIC_KEY_PEM", default="")
    """The key that checks tokens (P-256, PEM or its base64); unset means the private key's."""
    ec_private_key_pem: SecretStr = also("EC_PRIVATE_KEY_PEM", "EC_PRIVATE_KEY_PEM", default=SecretStr(""))
    """The key that signs tokens; unset means one that is made at the first start and kept in the database."""
    admin_token: SecretStr | None = None
    """The administrator's token with `local`; unset means one that is made at the first start. Either way it is left in
    the file `admin-token` of the data directory."""
    local_auth_enforce_resource_scope: bool = also(
        "LOCAL_AUTH_ENFORCE_RESOURCE_SCOPE", "LOCAL_AUTH_ENFORCE_RESOURCE_SCOPE", default=True
    )
    """Machines may touch only their own infra-env and cluster."""
    image_expiration_time: Duration = also("IMAGE_EXPIRATION_TIME", "IMAGE_EXPIRATION_TIME", default=timedelta(hours=4))
    """How long an image URL is good for with `local`."""
    agent_token_lifetime: Duration = timedelta(hours=720)
    """How long the token in a discovery image lets new machines in with `local`; 0 means for ever."""
    images_api_token: SecretStr | None = None
    """What an image service that runs alone follows the API's events with; unset, it asks the API more often."""
