"""Ignition 3.1 and 3.2 documents as values: the model, reading with every reason for refusal, writing, small builders.

One model holds both versions; what 3.1.0 does not know is left out, as Ignition itself would ignore it.
"""

from collections.abc import Iterable
from typing import Final, cast

import msgspec

from firstlight.core.errors import Invalid
from firstlight.core.install.data_url import from_data_url, to_data_url
from firstlight.core.install.documents import mapping
from firstlight.core.install.ignition_checks import problems
from firstlight.core.install.ignition_models import (
    Config,
    File,
    Ignition,
    Owner,
    Passwd,
    Resource,
    Storage,
    Systemd,
    Unit,
    User,
    known_keys,
)

SUPPORTED_VERSIONS: Final = ("3.1.0", "3.2.0")
ROOT: Final = Owner(name="root")
KNOWN_KEYS: Final = known_keys()


def parse(text: str | bytes) -> Config:
    """Read and check a document. Raises Invalid naming every place Ignition would refuse."""
    config = decode(text)
    require_valid(config)
    return config


def decode(text: str | bytes) -> Config:
    """Read a document without the checks beyond version and types."""
    try:
        document = msgspec.json.decode(text)
        version = version_of(tidy(document))
        config = msgspec.convert(tidy(document), Config, strict=True)
    except RecursionError:
        raise Invalid("The Ignition config is nested too deeply to be read.") from None
    except msgspec.ValidationError as problem:
        raise Invalid(f"The Ignition config does not follow the specification: {problem}.") from problem
    except msgspec.DecodeError as problem:
        raise Invalid(f"The Ignition config is not valid JSON: {problem}.") from problem
    except UnicodeError as problem:
        raise Invalid("The Ignition config is not text in UTF-8.") from problem
    return limit_to_version(config, version=version)


def version_of(document: object) -> str:
    version: object = None
    if isinstance(document, dict):
        ignition = cast("dict[str, object]", document).get("ignition")
        if isinstance(ignition, dict):
            version = cast("dict[str, object]", ignition).get("version")
    if version not in SUPPORTED_VERSIONS:
        found = f"version {version}" if isinstance(version, str) and version else "no version"
        raise Invalid(
            f"The Ignition config has an unsupported config version: it states {found} in ignition.version, "
            f"and only {' and '.join(SUPPORTED_VERSIONS)} are understood. Convert it to one of them."
        )
    return str(version)


def tidy(value: object) -> object:
    """Spell keys as the specification does and drop nulls: Ignition takes any case, and null means absent."""
    if isinstance(value, dict):
        # YAML knows keys that are no text; whoever turns it into JSON writes them as text.
        members = mapping(cast("object", value))
        return {KNOWN_KEYS.get(key.lower(), key): tidy(item) for key, item in members.items() if item is not None}
    if isinstance(value, list):
        return [tidy(item) for item in cast("list[object]", value)]
    return value


def limit_to_version(config: Config, *, version: str) -> Config:
    """The document as `version` understands it: 3.1.0 has no luks, no resize, no shouldExist for users and groups."""
    config = msgspec.structs.replace(config, ignition=msgspec.structs.replace(config.ignition, version=version))
    if version != "3.1.0":
        return config
    replace = msgspec.structs.replace
    storage = replace(
        config.storage,
        luks=(),
        disks=tuple(
            replace(disk, partitions=tuple(replace(partition, resize=None) for partition in disk.partitions))
            for disk in config.storage.disks
        ),
    )
    passwd = replace(
        config.passwd,
        users=tuple(replace(user, should_exist=None) for user in config.passwd.users),
        groups=tuple(replace(group, should_exist=None) for group in config.passwd.groups),
    )
    return replace(config, storage=storage, passwd=passwd)


def require_valid(config: Config) -> None:
    """Raise Invalid with every problem found, each with its place in the document."""
    found = problems(config)
    if found:
        raise Invalid(f"The Ignition config is refused: {'; '.join(found)}.")


def encode(config: Config) -> bytes:
    """The document as bytes, empty objects left out; equal values give equal bytes."""
    return msgspec.json.encode(to_document(config))


def to_document(config: Config) -> object:
    """The config as plain values, to be put into another document."""
    return without_empty_objects(msgspec.to_builtins(config))


def without_empty_objects(value: object) -> object:
    if isinstance(value, dict):
        members = {key: without_empty_objects(item) for key, item in cast("dict[str, object]", value).items()}
        return {key: item for key, item in members.items() if item != {}}
    if isinstance(value, list):
        return [without_empty_objects(item) for item in cast("list[object]", value)]
    return value


def content_of(config: Config, path: str) -> bytes | None:
    """The content of one inline file, None when the document has no such file or fetches it from elsewhere."""
    for node in config.storage.files:
        source = node.contents.source or ""
        if node.path == path and source.startswith("data:"):
            return from_data_url(source)
    return None


def inline(content: str | bytes) -> Resource:
    return Resource(source=to_data_url(content.encode() if isinstance(content, str) else content))


def file(path: str, content: str | bytes, *, mode: int = 0o644) -> File:
    """A root-owned file that replaces whatever the image has at that path."""
    return File(path=path, mode=mode, overwrite=True, user=ROOT, contents=inline(content))


def unit(name: str, contents: str | None = None, *, enabled: bool = True) -> Unit:
    return Unit(name=name, contents=contents, enabled=enabled)


def config(
    version: str,
    *,
    ignition: Ignition | None = None,
    files: Iterable[File] = (),
    units: Iterable[Unit] = (),
    users: Iterable[User] = (),
) -> Config:
    return Config(
        ignition=msgspec.structs.replace(ignition or Ignition(), version=version),
        storage=Storage(files=tuple(files)),
        systemd=Systemd(units=tuple(units)),
        passwd=Passwd(users=tuple(users)),
    )


def with_files(document: Config, files: Iterable[File]) -> Config:
    """Add files; one whose path exists already takes the place of the earlier."""
    added = {node.path: node for node in files}
    kept = tuple(node for node in document.storage.files if node.path not in added)
    storage = msgspec.structs.replace(document.storage, files=(*kept, *added.values()))
    return msgspec.structs.replace(document, storage=storage)


def with_units(document: Config, units: Iterable[Unit]) -> Config:
    added = {item.name: item for item in units}
    kept = tuple(item for item in document.systemd.units if item.name not in added)
    return msgspec.structs.replace(document, systemd=Systemd(units=(*kept, *added.values())))
