"""The small values this room is given: what several documents have in common."""

import msgspec


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """Frozen, named fields; every input of the installation documents."""


class HostFile(Value, frozen=True, kw_only=True):
    """A file for a host, before anyone decides how it travels: inside Ignition, a ramdisk or a tar."""

    path: str
    content: bytes
    mode: int = 0o644


class ProxySettings(Value, frozen=True, kw_only=True):
    http: str = ""
    https: str = ""
    no_proxy: str = ""
    """Comma-separated, as the API carries it."""

    @property
    def is_set(self) -> bool:
        return bool(self.http or self.https)

    @property
    def exceptions(self) -> tuple[str, ...]:
        return tuple(part.strip() for part in self.no_proxy.split(",") if part.strip())

    @property
    def environment(self) -> tuple[tuple[str, str], ...]:
        """The variables programs look at, in both spellings."""
        named = (("http_proxy", self.http), ("https_proxy", self.https), ("no_proxy", self.no_proxy))
        return tuple((spelling, value) for name, value in named if value for spelling in (name, name.upper()))


class RegistryMirror(Value, frozen=True, kw_only=True):
    source: str
    mirrors: tuple[str, ...]


class MirrorRegistries(Value, frozen=True, kw_only=True):
    """Where images are pulled from instead of the public registries."""

    registries_conf: str
    """The file as podman reads it on a discovered host."""
    ca_bundle: str = ""
    digest_mirrors: tuple[RegistryMirror, ...] = ()
    tag_mirrors: tuple[RegistryMirror, ...] = ()
    insecure: tuple[str, ...] = ()
    """Mirrors reached without checking their certificate."""
