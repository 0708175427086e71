"""The Ignition 3.2 schema as frozen structs, with the key by which each list entry is known when configs are merged."""

from collections.abc import Iterator
from typing import Annotated

import msgspec
from msgspec import Meta, field

Count = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]


class Model(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """Absent values are None or empty and stay out of the written document."""

    @property
    def key(self) -> str:
        """What identifies the entry in its list; overridden where lists are merged by entry."""
        return ""


class HttpHeader(Model, frozen=True, kw_only=True):
    name: str = ""
    value: str | None = None

    @property
    def key(self) -> str:
        return self.name


class Verification(Model, frozen=True, kw_only=True):
    hash: str | None = None


class Resource(Model, frozen=True, kw_only=True):
    compression: str | None = None
    http_headers: tuple[HttpHeader, ...] = ()
    source: str | None = None
    verification: Verification = Verification()

    @property
    def key(self) -> str:
        return self.source or ""


class Owner(Model, frozen=True, kw_only=True):
    id: Count | None = None
    name: str | None = None


class Node(Model, frozen=True, kw_only=True):
    path: str = ""
    overwrite: bool | None = None
    user: Owner = Owner()
    group: Owner = Owner()

    @property
    def key(self) -> str:
        return self.path


class File(Node, frozen=True, kw_only=True):
    mode: Count | None = None
    contents: Resource = Resource()
    append: tuple[Resource, ...] = ()


class Directory(Node, frozen=True, kw_only=True):
    mode: Count | None = None


class Link(Node, frozen=True, kw_only=True):
    hard: bool | None = None
    target: str = ""


class Partition(Model, frozen=True, kw_only=True):
    guid: str | None = None
    label: str | None = None
    number: Count = 0
    resize: bool | None = None
    should_exist: bool | None = None
    size_mib: Count | None = field(name="sizeMiB", default=None)
    start_mib: Count | None = field(name="startMiB", default=None)
    type_guid: str | None = None
    wipe_partition_entry: bool | None = None

    @property
    def key(self) -> str:
        if self.number:
            return f"number:{self.number}"
        return "" if self.label is None else f"label:{self.label}"


class Disk(Model, frozen=True, kw_only=True):
    device: str = ""
    partitions: tuple[Partition, ...] = ()
    wipe_table: bool | None = None

    @property
    def key(self) -> str:
        return self.device


class Raid(Model, frozen=True, kw_only=True):
    name: str = ""
    level: str = ""
    devices: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    spares: Count | None = None

    @property
    def key(self) -> str:
        return self.name


class Filesystem(Model, frozen=True, kw_only=True):
    device: str = ""
    format: str | None = None
    label: str | None = None
    mount_options: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    path: str | None = None
    uuid: str | None = None
    wipe_filesystem: bool | None = None

    @property
    def key(self) -> str:
        return self.device


class ClevisCustom(Model, frozen=True, kw_only=True):
    pin: str = ""
    config: str = ""
    needs_network: bool | None = None


class Tang(Model, frozen=True, kw_only=True):
    url: str = ""
    thumbprint: str | None = None

    @property
    def key(self) -> str:
        return self.url


class Clevis(Model, frozen=True, kw_only=True):
    custom: ClevisCustom | None = None
    tang: tuple[Tang, ...] = ()
    threshold: Count | None = None
    tpm2: bool | None = None


class Luks(Model, frozen=True, kw_only=True):
    name: str = ""
    device: str | None = None
    clevis: Clevis | None = None
    key_file: Resource = Resource()
    label: str | None = None
    options: tuple[str, ...] = ()
    uuid: str | None = None
    wipe_volume: bool | None = None

    @property
    def key(self) -> str:
        return self.name


class Storage(Model, frozen=True, kw_only=True):
    disks: tuple[Disk, ...] = ()
    raid: tuple[Raid, ...] = ()
    luks: tuple[Luks, ...] = ()
    filesystems: tuple[Filesystem, ...] = ()
    directories: tuple[Directory, ...] = ()
    files: tuple[File, ...] = ()
    links: tuple[Link, ...] = ()


class Dropin(Model, frozen=True, kw_only=True):
    name: str = ""
    contents: str | None = None

    @property
    def key(self) -> str:
        return self.name


class Unit(Model, frozen=True, kw_only=True):
    name: str = ""
    enabled: bool | None = None
    mask: bool | None = None
    contents: str | None = None
    dropins: tuple[Dropin, ...] = ()

    @property
    def key(self) -> str:
        return self.name


class Systemd(Model, frozen=True, kw_only=True):
    units: tuple[Unit, ...] = ()


class Group(Model, frozen=True, kw_only=True):
    name: str = ""
    gid: Count | None = None
    password_hash: str | None = None
    should_exist: bool | None = None
    system: bool | None = None

    @property
    def key(self) -> str:
        return self.name


class User(Model, frozen=True, kw_only=True):
    name: str = ""
    gecos: str | None = None
    groups: tuple[str, ...] = ()
    home_dir: str | None = None
    no_create_home: bool | None = None
    no_log_init: bool | None = None
    no_user_group: bool | None = None
    password_hash: str | None = None
    primary_group: str | None = None
    ssh_authorized_keys: tuple[str, ...] = ()
    shell: str | None = None
    should_exist: bool | None = None
    system: bool | None = None
    uid: Count | None = None

    @property
    def key(self) -> str:
        return self.name


class Passwd(Model, frozen=True, kw_only=True):
    users: tuple[User, ...] = ()
    groups: tuple[Group, ...] = ()


class Proxy(Model, frozen=True, kw_only=True):
    http_proxy: str | None = None
    https_proxy: str | None = None
    no_proxy: tuple[str, ...] = ()


class Tls(Model, frozen=True, kw_only=True):
    certificate_authorities: tuple[Resource, ...] = ()


class Security(Model, frozen=True, kw_only=True):
    tls: Tls = Tls()


class Timeouts(Model, frozen=True, kw_only=True):
    http_response_headers: Count | None = None
    http_total: Count | None = None


class References(Model, frozen=True, kw_only=True):
    """Other configs to merge into this one, or to take instead of it."""

    merge: tuple[Resource, ...] = ()
    replace: Resource = Resource()


class Ignition(Model, frozen=True, kw_only=True):
    version: str = ""
    config: References = References()
    proxy: Proxy = Proxy()
    security: Security = Security()
    timeouts: Timeouts = Timeouts()


class Config(Model, frozen=True, kw_only=True):
    ignition: Ignition = Ignition()
    passwd: Passwd = Passwd()
    storage: Storage = Storage()
    systemd: Systemd = Systemd()


def known_keys() -> dict[str, str]:
    """Every key of the specification by its lower-case form; no two keys differ in case only."""
    return {name.lower(): name for model in models(Model) for name in model.__struct_encode_fields__}


def models(parent: type[Model]) -> Iterator[type[Model]]:
    for child in parent.__subclasses__():
        yield child
        yield from models(child)
