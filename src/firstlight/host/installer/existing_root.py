"""Installing into the system that runs: a deployment beside the live one, for machines that booted from their disk."""

from typing import Final

from firstlight.host.installer.run import InstallationFailed, Run

STATEROOT: Final = "install"
DEPLOY_SECONDS: Final = 1500.0
KEYFILES: Final = "/etc/NetworkManager/system-connections"
NETWORK_FOLDER: Final = "/boot/coreos-firstboot-network"
APPEND, DELETE = "--append-karg", "--delete-karg"
COPY_NETWORK: Final = frozenset({"--copy-network", "-n"})


async def install_beside(run: Run) -> None:
    run.tell("Writing image to disk", "deploying the image into the running system")
    arguments = run.settings.installer_arguments
    for mount in ("/sysroot", "/boot"):
        await run.must("mount", "-o", "remount,rw", mount)
    await run.attempt("ostree", "refs", "--delete", "coreos/node-image")
    if not run.root.is_folder(f"/ostree/deploy/{STATEROOT}"):
        await run.must("ostree", "admin", "stateroot-init", STATEROOT)
    await run.must(
        *("ostree", "container", "image", "deploy", "--sysroot", "/", "--authfile", "/root/.docker/config.json"),
        *("--imgref", f"ostree-unverified-registry:{run.settings.coreos_image}"),
        *("--karg", "$ignition_firstboot", "--karg", "ignition.platform.id=metal", "--stateroot", STATEROOT),
        limit=DEPLOY_SECONDS,
        tries=3,
    )
    await run.attempt("ostree", "admin", "finalize-staged")
    kargs = kernel_arguments(arguments)
    if kargs:
        await run.must("rpm-ostree", "kargs", "--os", STATEROOT, *kargs)
    if COPY_NETWORK & {*arguments}:
        await run.must("mkdir", "-p", NETWORK_FOLDER)
        for name in run.root.names(KEYFILES):
            if name.endswith(".nmconnection"):
                await run.must("cp", f"{KEYFILES}/{name}", NETWORK_FOLDER)
    content = run.root.bytes(run.ignition)
    if content is None:
        raise InstallationFailed(f"There is no {run.ignition} to start the new system with.")
    run.write("/boot/ignition/config.ign", content, mode=0o600)
    await run.must("touch", "/boot/ignition.firstboot")


def kernel_arguments(arguments: tuple[str, ...]) -> tuple[str, ...]:
    """As rpm-ostree takes them: `--append=quiet`, from `--append-karg quiet` or `--append-karg=quiet`."""
    found: list[str] = []
    words = iter(arguments)
    for word in words:
        name, joined, value = word.partition("=")
        if name in (APPEND, DELETE):
            value = value if joined else next(words, "")
            if value:
                found.append(f"{'--append' if name == APPEND else '--delete'}={value}")
    return tuple(found)
