"""What Ignition refuses although the types are right: paths, duplicates, URLs, modes, unit files, disks.

Each check yields `place: reason`; warnings of Ignition are no problem here.
"""

import posixpath
import re
from collections.abc import Iterator
from typing import Final, cast
from urllib.parse import parse_qs, urlsplit

from firstlight.core.errors import Invalid
from firstlight.core.install.data_url import from_data_url
from firstlight.core.install.ignition_disk_checks import storage_problems
from firstlight.core.install.ignition_models import (
    Config,
    Dropin,
    HttpHeader,
    Model,
    Node,
    Owner,
    Proxy,
    Resource,
    Tang,
    Unit,
    Verification,
)
from firstlight.core.install.unit_files import unit_file_problem

SCHEMES: Final = frozenset({"http", "https", "tftp", "gs", "s3", "data"})
HASH_DIGITS: Final = {"sha512": 128, "sha256": 64}
UNIT_SUFFIXES: Final = frozenset(
    {
        ".service",
        ".socket",
        ".device",
        ".mount",
        ".automount",
        ".swap",
        ".target",
        ".path",
        ".timer",
        ".snapshot",
        ".slice",
        ".scope",
    }
)
UNIT_FOLDER: Final = "/etc/systemd/system/"
# Lists whose entries may repeat: they are command-line options or parts of one file.
REPEATABLE: Final = frozenset({"append", "options", "mount_options"})
# These three lists share one name space: the file system.
NODES: Final = ("directories", "files", "links")
CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


def problems(config: Config) -> list[str]:
    """Everything Ignition would refuse, in document order."""
    return [*unit_path_problems(config), *walk(config, "$")]


def walk(model: Model, place: str) -> Iterator[str]:
    yield from own_problems(model, place)
    yield from duplicates(model, place)
    for name, key in zip(model.__struct_fields__, model.__struct_encode_fields__, strict=True):
        value = getattr(model, name)
        if isinstance(value, Model):
            yield from walk(value, f"{place}.{key}")
        elif isinstance(value, tuple):
            for index, item in enumerate(cast("tuple[object, ...]", value)):
                if isinstance(item, Model):
                    yield from walk(item, f"{place}.{key}[{index}]")


def own_problems(model: Model, place: str) -> Iterator[str]:
    match model:
        case Resource():
            yield from resource_problems(model, place)
        case Verification():
            yield from verification_problems(model, place)
        case HttpHeader(name=name, value=value):
            if not name:
                yield f"{place}.name is empty"
            if value == "":
                yield f"{place}.value is empty; leave it out to remove the header"
        case Owner(id=number, name=name):
            if number is not None and name:
                yield f"{place} gives both an id and a name"
        case Proxy():
            yield from proxy_problems(model, place)
        case Tang(url=url, thumbprint=thumbprint):
            if scheme_of(url) not in {"http", "https"}:
                yield f"{place}.url must be an http or https URL"
            if not thumbprint:
                yield f"{place}.thumbprint is missing"
        case Unit(name=name, contents=contents):
            if posixpath.splitext(name)[1] not in UNIT_SUFFIXES:
                yield f"{place}.name {name!r} does not end like a systemd unit"
            yield from unit_text_problems(contents, f"{place}.contents")
        case Dropin(name=name, contents=contents):
            if posixpath.splitext(name)[1] != ".conf":
                yield f"{place}.name {name!r} does not end in .conf"
            yield from unit_text_problems(contents, f"{place}.contents")
        case _:
            yield from required_sources(model, place)
            yield from storage_problems(model, place)


def resource_problems(resource: Resource, place: str) -> Iterator[str]:
    if resource.compression not in {None, "", "gzip"}:
        yield f"{place}.compression must be gzip"
    if resource.verification.hash is not None and resource.source is None:
        yield f"{place} has a hash but no source"
    if resource.source:
        yield from url_problems(resource.source, f"{place}.source")
    if resource.http_headers and scheme_of(resource.source or "") not in {"http", "https"}:
        yield f"{place}.httpHeaders needs an http or https source"


def required_sources(model: Model, place: str) -> Iterator[str]:
    for name, key in (("merge", "merge"), ("certificate_authorities", "certificateAuthorities")):
        for index, resource in enumerate(cast("tuple[Resource, ...]", getattr(model, name, ()))):
            if not resource.source:
                yield f"{place}.{key}[{index}] has no source"


def url_problems(url: str, place: str) -> Iterator[str]:
    scheme = scheme_of(url)
    if scheme is None:
        yield f"{place} is not a URL"
    elif scheme not in SCHEMES:
        yield f"{place} has the scheme {scheme!r}; use one of {', '.join(sorted(SCHEMES))}"
    elif scheme == "data":
        try:
            from_data_url(url)
        except Invalid as problem:
            yield f"{place}: {str(problem).rstrip('.')}"
    elif scheme == "s3" and parse_qs(urlsplit(url).query, keep_blank_values=True).get("versionId", ["x"])[0] == "":
        yield f"{place} has an empty versionId"


def scheme_of(url: str) -> str | None:
    """The scheme in lower case, None for what no URL parser takes."""
    if CONTROL.search(url):
        return None
    try:
        return urlsplit(url).scheme
    except ValueError:
        return None


def verification_problems(verification: Verification, place: str) -> Iterator[str]:
    if verification.hash is None:
        return
    function, dash, digest = verification.hash.partition("-")
    if not dash or function not in HASH_DIGITS:
        yield f"{place}.hash must look like sha512-<hex digits>"
    elif len(digest) != HASH_DIGITS[function]:
        yield f"{place}.hash must have {HASH_DIGITS[function]} digits for {function}"


def proxy_problems(proxy: Proxy, place: str) -> Iterator[str]:
    for key, url in (("httpProxy", proxy.http_proxy), ("httpsProxy", proxy.https_proxy)):
        if url is not None and scheme_of(url) not in {"http", "https"}:
            yield f"{place}.{key} must be an http or https URL"


def unit_text_problems(contents: str | None, place: str) -> Iterator[str]:
    problem = unit_file_problem(contents or "")
    if problem:
        yield f"{place} is no unit file: {problem}"


def unit_path_problems(config: Config) -> Iterator[str]:
    """A unit and a file at the place where Ignition writes that unit contradict each other."""
    taken: set[str] = set()
    for unit in config.systemd.units:
        if unit.contents:
            taken.add(UNIT_FOLDER + unit.name)
        taken.update(f"{UNIT_FOLDER}{unit.name}.d/{dropin.name}" for dropin in unit.dropins if dropin.contents)
    for kind in NODES:
        for index, node in enumerate(cast("tuple[Node, ...]", getattr(config.storage, kind))):
            if node.path in taken:
                yield f"$.storage.{kind}[{index}].path {node.path} is also written by a systemd unit of this config"


def duplicates(model: Model, place: str) -> Iterator[str]:
    seen: dict[str, set[str]] = {}
    for name, key in zip(model.__struct_fields__, model.__struct_encode_fields__, strict=True):
        value = getattr(model, name)
        if not isinstance(value, tuple) or name in REPEATABLE:
            continue
        known = seen.setdefault("node" if name in NODES else name, set())
        for index, item in enumerate(cast("tuple[object, ...]", value)):
            identity = item.key if isinstance(item, Model) else str(item)
            if identity in known:
                yield f"{place}.{key}[{index}] repeats {identity[:80]!r}"
            known.add(identity)
