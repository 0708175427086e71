"""Clusters this service did not install: adopted to grow, or only written down."""

from datetime import datetime
from uuid import UUID

from msgspec import Struct

from firstlight.core.clusters import texts
from firstlight.core.errors import Invalid
from firstlight.core.model.cluster import Cluster
from firstlight.core.model.cluster_status import ClusterKind, ClusterStatus
from firstlight.core.versions.architectures import CpuArchitecture
from firstlight.core.versions.numbers import parse


class Owner(Struct, frozen=True, kw_only=True):
    user_name: str = "admin"
    org_id: str = ""
    email_domain: str = "Unknown"


def imported_cluster(
    cluster_id: UUID,
    *,
    name: str,
    api_name: str,
    openshift_cluster_id: UUID,
    version: str,
    owner: Owner,
    now: datetime,
) -> Cluster:
    """A running cluster that shall get more hosts. A name of the form api.X.domain says what it is called."""
    if version:
        parse(version)
    first, _, rest = api_name.partition(".")
    label, _, domain = rest.partition(".")
    is_full_name = first == "api" and bool(label) and bool(domain)
    return Cluster(
        id=cluster_id,
        kind=ClusterKind.ADD_HOSTS,
        name=label if is_full_name else name,
        status=ClusterStatus.ADDING_HOSTS,
        status_info=texts.ADDING_HOSTS,
        status_updated_at=now,
        created_at=now,
        updated_at=now,
        user_name=owner.user_name,
        org_id=owner.org_id,
        email_domain=owner.email_domain,
        openshift_version=version,
        openshift_cluster_id=openshift_cluster_id,
        # Nobody said which machines it is made of, so any may join.
        cpu_architecture=CpuArchitecture.MULTI.value,
        base_dns_domain=domain if is_full_name else "",
        api_vip_dns_name=api_name,
        imported=True,
    )


def disconnected_cluster(cluster_id: UUID, *, name: str, version: str, owner: Owner, now: datetime) -> Cluster:
    """A record of a cluster that is installed without this service."""
    if not version:
        raise Invalid("A disconnected cluster needs an OpenShift version. Set openshift_version.")
    parse(version)
    return Cluster(
        id=cluster_id,
        kind=ClusterKind.DISCONNECTED,
        name=name,
        status=ClusterStatus.UNMONITORED,
        status_info=texts.UNMONITORED,
        status_updated_at=now,
        created_at=now,
        updated_at=now,
        user_name=owner.user_name,
        org_id=owner.org_id,
        email_domain=owner.email_domain,
        openshift_version=version,
    )
