"""What the service says of itself: what it is, how it is set up, and what about that may surprise."""

from collections.abc import Iterator
from ipaddress import ip_address
from urllib.parse import urlsplit

from msgspec import Struct

from firstlight.server.ports.counts import Counts
from firstlight.server.usecases.world import ServiceFacts, World


class SetupWarning(Struct, frozen=True, kw_only=True):
    """Something about the setup that a person should know."""

    code: str
    message: str
    setting: str
    """The setting that changes it."""


class About(Struct, frozen=True, kw_only=True):
    version: str
    release_tag: str
    auth_type: str
    service_url: str
    image_service_url: str
    storage: dict[str, str]
    counts: Counts
    last_event: int
    """The number of the newest event: where a follower of the stream may begin."""
    warnings: tuple[SetupWarning, ...]


async def about(world: World) -> About:
    service = world.service
    return About(
        version=service.version,
        release_tag=service.release_tag,
        auth_type=service.auth_type,
        service_url=service.service_url,
        image_service_url=service.image_service_url,
        storage={"database": service.database, "files": service.files},
        counts=await world.store.counts(),
        last_event=await world.store.last_event_seq(),
        warnings=tuple(warnings(service)),
    )


def warnings(service: ServiceFacts) -> Iterator[SetupWarning]:
    if service.auth_type == "none" and not is_loopback(service.listen.rpartition(":")[0]):
        yield SetupWarning(
            code="open-to-everybody",
            message=(
                f"Everybody who reaches {service.listen} is administrator: authentication is off and the address is"
                " not on loopback. Set FIRSTLIGHT_AUTH_TYPE=local, or listen on 127.0.0.1."
            ),
            setting="FIRSTLIGHT_AUTH_TYPE",
        )
    if is_loopback(urlsplit(service.service_url).hostname or ""):
        yield SetupWarning(
            code="service-unreachable-for-hosts",
            message=(
                f"Discovered hosts are told to call {service.service_url}, which only this machine can reach. Set the"
                " URL under which hosts reach the service."
            ),
            setting="FIRSTLIGHT_SERVICE_BASE_URL",
        )
    if service.image_service and is_loopback(urlsplit(service.image_service_url).hostname or ""):
        yield SetupWarning(
            code="images-unreachable-for-hosts",
            message=(
                f"No other machine can boot from the images: their links begin with {service.image_service_url}, which"
                " only this machine can reach. Set the URL under which other machines reach the image service."
            ),
            setting="FIRSTLIGHT_IMAGE_SERVICE_BASE_URL",
        )


def is_loopback(host: str) -> bool:
    """An empty host stands for every interface."""
    name = host.strip("[]").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
