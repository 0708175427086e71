"""One service, one registry and one courier for all machines of this suite."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from lab.building import Missing
from lab.disk_image import disk_image
from tests.conftest import enter, missing
from tests.lab.guests.couriers import courier
from tests.lab.guests.guests import Guest
from tests.lab.guests.releases import build_daemon, push_release, release_settings
from tests.lab.guests.scenario import install_guests
from tests.lab.guests.single import install_single
from tests.lab.guests.wards import IMAGE_NAMES, Ward, images_disk
from tests.lab.image_stores import image_store
from tests.lab.images.environments import running_service
from tests.peers import private_folder
from tests.registries import running_registry

ROLES = ("bootstrap", "master", "worker")


@pytest.fixture(scope="session")
def ward(stand_in: Path) -> Iterator[Ward]:
    try:
        image = disk_image()
    except Missing as reason:
        missing(str(reason))
    with ExitStack() as stack:
        folder = stack.enter_context(private_folder("guests"))
        registry = enter(stack, running_registry())
        store = stack.enter_context(image_store("agent", "installer"))
        release = push_release(registry, daemon=build_daemon(store))
        (folder / "service").mkdir()
        settings = IMAGE_NAMES | release_settings(registry, release, image=stand_in)
        service = enter(stack, running_service(folder / "service", {"x86_64": stand_in}, **settings))
        own = stack.enter_context(courier())
        own.files["disk.raw.gz"] = image
        yield Ward(service=service, courier=own, images=images_disk(store, folder / "images.squashfs"), folder=folder)


@pytest.fixture(scope="session")
def guests(ward: Ward, request: pytest.FixtureRequest) -> dict[str, Guest]:
    """The roles that the selected tests look at, installed and started from their disks."""
    asked = {item.callspec.params.get("role") for item in request.session.items if hasattr(item, "callspec")}
    return asyncio.run(install_all(ward, {role for role in ROLES if role in asked}))


async def install_all(ward: Ward, roles: set[str]) -> dict[str, Guest]:
    """The single node takes longest, so it goes first."""
    found: dict[str, Guest] = {}

    async def alone() -> None:
        if "bootstrap" in roles:
            found["bootstrap"] = await install_single(ward)

    async def among_others() -> None:
        if roles - {"bootstrap"}:
            found.update(await install_guests(ward, roles - {"bootstrap"}))

    async with asyncio.TaskGroup() as group:
        group.create_task(alone())
        group.create_task(among_others())
    return found
