"""The installer's container seen from outside: whether it runs, and how one ended that nobody watched."""

from typing import Final, Literal

from msgspec import Struct

from firstlight.host.programs import Programs

NAME: Final = "assisted-installer"
SECONDS: Final = 120.0
"""Podman waits for its own locks while images are unpacked onto a slow disk."""
_RUNNING: Final = frozenset({"running", "paused", "stopping", "created", "initialized"})

Presence = Literal["absent", "running", "ended", "unknown"]


class Installer(Struct, frozen=True, kw_only=True):
    presence: Presence
    exit_code: int = 0


async def installer_on(host: Programs) -> Installer:
    found = await host.run("podman", "container", "exists", NAME, limit=SECONDS)
    if found.exit_code == 1:
        return Installer(presence="absent")
    if not found.succeeded:
        return Installer(presence="unknown")
    form = "{{.State.Status}} {{.State.ExitCode}}"
    shown = await host.run("podman", "container", "inspect", "--format", form, NAME, limit=SECONDS)
    state, _, code = shown.text.strip().partition(" ")
    if not shown.succeeded or not state:
        return Installer(presence="unknown")
    if state in _RUNNING:
        return Installer(presence="running")
    return Installer(presence="ended", exit_code=int(code) if code.lstrip("-").isdecimal() else -1)
