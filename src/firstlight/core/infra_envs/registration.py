"""New infra-envs, and changes to those that exist."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from firstlight.core.decision import Change
from firstlight.core.errors import Invalid
from firstlight.core.events.infra_env import ImageInfoUpdated, InfraEnvRegistered
from firstlight.core.events.telling import told
from firstlight.core.infra_envs.urls import image_url
from firstlight.core.infra_envs.wishes import (
    FULL,
    InfraEnvWish,
    ParseCertificate,
    granted,
    require_pull_secret,
    require_same_architecture,
)
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.infra_env import InfraEnv
from firstlight.core.model.policy import Policy
from firstlight.core.versions.architectures import CpuArchitecture, normalise
from firstlight.core.versions.catalogue import Catalogue

LONGEST_NAME: Final = 255
_UNTOLD: Final = frozenset({"updated_at", "download_url", "expires_at"})


class Grounds(Struct, frozen=True, kw_only=True):
    """What a decision about an infra-env stands on besides the request."""

    policy: Policy
    catalogue: Catalogue
    public_registries: tuple[str, ...] = ()
    image_service_url: str
    parse_certificate: ParseCertificate
    locate: Callable[[InfraEnv], InfraEnv] | None = None
    """Gives an infra-env the URL of its image; none: its plain URL below the image service's."""
    default_image_type: str = FULL
    default_ntp_source: str = ""

    @property
    def images(self) -> tuple[str, ...]:
        """What hosts pull before the release is known."""
        return (self.policy.agent_image, self.policy.installer_image, self.policy.controller_image)


class NewInfraEnv(Struct, frozen=True, kw_only=True):
    id: UUID
    name: str
    cluster: Cluster | None = None
    cpu_architecture: str = ""
    user_name: str
    org_id: str = ""
    email_domain: str = ""


class Updated(Struct, frozen=True, kw_only=True):
    infra_env: InfraEnv
    changes: tuple[Change, ...]


def register(
    new: NewInfraEnv, wish: InfraEnvWish, *, networks: Sequence[object], grounds: Grounds, now: datetime
) -> Updated:
    if not 1 <= len(new.name) <= LONGEST_NAME or not new.name.isprintable():
        raise Invalid(f"An infra-env needs a name of 1 to {LONGEST_NAME} printable characters.")
    architecture = normalise(new.cpu_architecture or CpuArchitecture.X86_64)
    if new.cluster is not None:
        require_same_architecture(architecture, new.cluster)
    require_pull_secret(
        wish.pull_secret or "", images=grounds.images, public=grounds.public_registries, what="new infraEnv"
    )
    image = grounds.catalogue.os_image(wish.openshift_version or "", architecture=architecture)
    usual = FULL if architecture is CpuArchitecture.S390X else grounds.default_image_type
    base = InfraEnv(
        id=new.id,
        name=new.name,
        cluster_id=None if new.cluster is None else new.cluster.id,
        created_at=now,
        updated_at=now,
        image_type=usual,
        openshift_version=image.openshift_version,
        cpu_architecture=architecture.value,
        additional_ntp_sources="" if wish.ntp_sources else grounds.default_ntp_source,
        user_name=new.user_name,
        org_id=new.org_id,
        email_domain=new.email_domain,
    )
    infra_env = granted(base, wish, networks=networks, parse_certificate=grounds.parse_certificate)
    infra_env = _located(infra_env, grounds)
    registered = InfraEnvRegistered(infra_env_id=infra_env.id, cluster_id=infra_env.cluster_id)
    changes = (
        Change(event=registered, after={"name": infra_env.name}),
        _told(infra_env, f"{infra_env.image_type}, OpenShift {infra_env.openshift_version}, {architecture}"),
    )
    return Updated(infra_env=infra_env, changes=changes)


def update(
    infra_env: InfraEnv, wish: InfraEnvWish, *, networks: Sequence[object], grounds: Grounds, now: datetime
) -> Updated | None:
    """The changed record; None when the wish changes nothing."""
    if wish.pull_secret:
        require_pull_secret(
            wish.pull_secret, images=grounds.images, public=grounds.public_registries, what=f"infraEnv {infra_env.name}"
        )
    after = infra_env
    if wish.openshift_version:
        architecture = normalise(infra_env.cpu_architecture)
        image = grounds.catalogue.os_image(wish.openshift_version, architecture=architecture)
        after = replace(after, openshift_version=image.openshift_version)
    after = granted(after, wish, networks=networks, parse_certificate=grounds.parse_certificate)
    after = _located(after, grounds)
    fields = changed_fields(infra_env, after)
    if wish.pull_secret:
        fields.append("pull_secret")
    if not fields and after == infra_env:
        return None
    change = _told(after, ", ".join(sorted(fields)) or "download_url", before=infra_env)
    return Updated(infra_env=replace(after, updated_at=now), changes=(change,))


def _located(infra_env: InfraEnv, grounds: Grounds) -> InfraEnv:
    if grounds.locate is not None:
        return grounds.locate(infra_env)
    return replace(infra_env, download_url=image_url(infra_env, base=grounds.image_service_url))


def changed_fields(before: InfraEnv, after: InfraEnv) -> list[str]:
    return [
        name
        for name in InfraEnv.__struct_fields__
        if name not in _UNTOLD and getattr(before, name) != getattr(after, name)
    ]


def _told(infra_env: InfraEnv, details: str, *, before: InfraEnv | None = None) -> Change:
    event = ImageInfoUpdated(infra_env_id=infra_env.id, cluster_id=infra_env.cluster_id, details=details)
    if before is None:
        return Change(event=event)
    fields = changed_fields(before, infra_env)
    return Change(
        event=event,
        before=told({name: getattr(before, name) for name in fields}),
        after=told({name: getattr(infra_env, name) for name in fields}),
    )
