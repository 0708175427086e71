"""Pull secrets: the registry credentials a cluster is installed with, and which registries they must cover."""

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec

from firstlight.core.errors import Invalid
from firstlight.core.validate.quoting import shown

DOCKER_HUB: Final = "docker.io"
_DOCKER_HUB_KEY: Final = "https://index.docker.io/v1/"


class PullSecret(msgspec.Struct, frozen=True):
    """Credentials by registry, or by repository prefix such as `quay.io/organisation`."""

    auths: Mapping[str, str]
    """The `auth` of each entry; empty where an entry has none."""

    def covers(self, image: str) -> bool:
        return any(key in self.auths for key in _keys_of(image))

    def auth_of(self, image: str) -> str:
        """The credentials for an image, from the entry that names it most closely; empty without one."""
        return next((auth for key in _keys_of(image) if (auth := self.auths.get(key))), "")


def check_pull_secret(text: str, *, images: Iterable[str] = (), exempt: Iterable[str] = ()) -> PullSecret:
    """The parsed secret; Invalid when it is malformed or lacks a registry that one of `images` comes from.

    `exempt` are registries or prefixes that need no credentials: public ones and configured mirrors.
    """
    secret = parse_pull_secret(text)
    free = frozenset(exempt)
    for image in images:
        if free.isdisjoint(_keys_of(image)) and not secret.covers(image):
            raise Invalid(
                f'The pull secret must contain auth for "{registry_of(image)}", which the image {shown(image)} comes'
                " from. Download your pull secret again or add the registry to it."
            )
    return secret


def parse_pull_secret(text: str) -> PullSecret:
    auths = _object(_document(text).get("auths"))
    if not auths:
        raise Invalid("The pull secret must contain 'auths' JSON-object field with at least one registry in it.")
    return PullSecret({registry: _checked_auth(registry, entry) for registry, entry in auths.items()})


def registry_of(image: str) -> str:
    """The registry part of an image reference; without one it is Docker Hub."""
    first, slash, _ = image.partition("/")
    return first if slash and ("." in first or ":" in first or first == "localhost") else DOCKER_HUB


def _keys_of(image: str) -> Iterator[str]:
    """Keys an image is looked for under, from its repository up to its registry."""
    registry = registry_of(image)
    repository = _without_tag(image if image.startswith(f"{registry}/") else f"{registry}/{image}")
    while "/" in repository:
        yield repository
        repository = repository.rpartition("/")[0]
    yield registry
    if registry == DOCKER_HUB:
        yield _DOCKER_HUB_KEY


def _without_tag(reference: str) -> str:
    path, slash, last = reference.partition("@")[0].rpartition("/")
    return f"{path}{slash}{last.partition(':')[0]}"


def _document(text: str) -> dict[str, object]:
    try:
        return msgspec.json.decode(text, type=dict[str, object])
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        raise Invalid("The pull secret must be a well-formed JSON object. Copy it again as a whole.") from None


def _object(value: object) -> dict[str, object] | None:
    try:
        return msgspec.convert(value, dict[str, object])
    except msgspec.ValidationError:
        return None


def _checked_auth(registry: str, entry: object) -> str:
    fields = _object(entry)
    if fields is None:
        raise Invalid(f"invalid pull secret: the entry of {shown(registry)} must be a JSON object.")
    auth = fields.get("auth")
    if auth is None or auth == "":
        return ""
    if not isinstance(auth, str):
        raise Invalid(f"invalid pull secret: 'auth' of {shown(registry)} must be a string.")
    try:
        decoded = base64.b64decode("".join(auth.split()), validate=True)
    except (binascii.Error, ValueError):
        raise Invalid(f"invalid pull secret: 'auth' of {shown(registry)} is not base64.") from None
    if b":" not in decoded:
        raise Invalid(f"invalid pull secret: 'auth' of {shown(registry)} does not have the form user:password.")
    return auth
