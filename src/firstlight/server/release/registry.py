"""A client of container registries that trusts nothing it has not checked: tokens, mirrors, digests, resumed blobs."""

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import urlsplit

import httpx2
import msgspec
import structlog

from firstlight.core.errors import Error, Forbidden, Invalid, NotFound, TooLarge, Unavailable
from firstlight.core.install.inputs import MirrorRegistries
from firstlight.core.install.mirror_places import places_of
from firstlight.core.validate.pull_secret import PullSecret
from firstlight.core.versions.image_reference import ImageReference
from firstlight.server.release.challenges import Challenge, parse_challenge
from firstlight.server.release.manifests import ACCEPT, Descriptor, Index, Manifest, parse_manifest

log = structlog.get_logger(__name__)

OK: Final = 200
PARTIAL: Final = 206
UNAUTHORIZED: Final = 401
MANIFEST_LIMIT: Final = 4 * 2**20
TOKEN_LIMIT: Final = 2**20
ATTEMPTS: Final = 4
FIRST_PAUSE: Final = 0.5
WORTH_ANOTHER_TRY: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
ARCHITECTURES: Final[Mapping[str, str]] = {"x86_64": "amd64", "aarch64": "arm64"}
"""Ours → the registries', where they differ."""

Progress = Callable[[int, int], None]
"""Called with the bytes that are there and the bytes there will be."""


class Digest(Protocol):
    """A hash that is still being fed."""

    def update(self, data: bytes, /) -> None: ...
    def hexdigest(self) -> str: ...


class _Token(msgspec.Struct, frozen=True, kw_only=True):
    token: str = ""
    access_token: str = ""


class Registries:
    """All registries that one pull secret opens, reached through one connection pool."""

    def __init__(
        self,
        client: httpx2.AsyncClient,
        *,
        pull_secret: PullSecret,
        mirrors: MirrorRegistries | None = None,
        plain: frozenset[str] = frozenset(),
        pause: float = FIRST_PAUSE,
    ) -> None:
        """`plain` are registries that speak HTTP without TLS; naming them is the operator's decision."""
        self._client = client
        self._pull_secret = pull_secret
        self._mirrors = mirrors
        self._plain = plain
        self._pause = pause
        self._headers: dict[tuple[str, str], str] = {}
        """What each registry and repository wants as Authorization, once we know it."""
        self._found: dict[ImageReference, ImageReference] = {}
        """Where images were found: a mirror for tags has the layers too, and they have no tag."""

    async def image(self, name: ImageReference, *, architecture: str) -> tuple[ImageReference, Manifest]:
        """The manifest for an architecture, and the image's name by digest: a tag may move while we read."""
        wanted = ARCHITECTURES.get(architecture, architecture)
        problem: Error = NotFound(f"There is no image {name}.")
        for place in places_of(name, self._mirrors):
            try:
                return await self._image_at(name, place, architecture=wanted)
            except Error as reason:
                log.info("an image could not be read here", place=place.path, image=str(name), reason=str(reason))
                problem = reason
        raise problem

    async def _image_at(
        self, name: ImageReference, place: ImageReference, *, architecture: str
    ) -> tuple[ImageReference, Manifest]:
        digest, found = await self._manifest(place)
        if isinstance(found, Index):
            digest = found.for_architecture(architecture).digest
            _, found = await self._manifest(place.at(digest))
        if isinstance(found, Index):
            raise Invalid(f"The index of {name} names another index; such images are not used for releases.")
        self._found[name.at(digest)] = place
        return name.at(digest), found

    async def _manifest(self, place: ImageReference) -> tuple[str, Manifest | Index]:
        path = f"manifests/{place.version}"
        content, headers = await self._get(place, path, accept=ACCEPT, limit=MANIFEST_LIMIT)
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        promised = place.digest or headers.get("docker-content-digest") or digest
        if promised != digest:
            raise Invalid(f"{place} arrived changed: its manifest's digest is {digest}, not {promised}.")
        return digest, parse_manifest(content, media_type=headers.get("content-type", ""))

    async def blob(
        self, name: ImageReference, blob: Descriptor, *, into: Path, progress: Progress | None = None
    ) -> None:
        """Fetch a blob into a file, going on where an earlier attempt broke off; its digest is checked at the end."""
        problem: Error = NotFound(f"There is no blob {blob.digest} of {name}.")
        known = [self._found[name]] if name in self._found else []
        for place in dict.fromkeys((*known, *places_of(name, self._mirrors))):
            for attempt in range(ATTEMPTS):
                try:
                    await self._blob_at(place, blob, into=into, progress=progress)
                except Unavailable as reason:
                    problem = reason
                    await asyncio.sleep(self._pause * 2**attempt)
                except Error as reason:
                    problem = reason
                    break
                else:
                    return
        raise problem

    async def _blob_at(self, place: ImageReference, blob: Descriptor, *, into: Path, progress: Progress | None) -> None:
        digest = hashlib.sha256()
        there = await asyncio.to_thread(_begun, into, digest, most=blob.size)
        if there < blob.size:
            await self._stream(place, blob, into=into, there=there, digest=digest, progress=progress)
        if f"sha256:{digest.hexdigest()}" != blob.digest:
            await _gone(into)
            raise Invalid(f"The blob {blob.digest} of {place.path} arrived changed and was thrown away.")

    async def _stream(
        self,
        place: ImageReference,
        blob: Descriptor,
        *,
        into: Path,
        there: int,
        digest: Digest,
        progress: Progress | None,
    ) -> None:
        # The digest is of the bytes as they are kept: nobody may pack them for the way.
        extra = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={there}-"} if there else {})
        try:
            answer = await self._send(place, f"blobs/{blob.digest}", extra=extra)
            try:
                self._require(answer, place)
                if there and answer.status_code != PARTIAL:
                    raise _StartAgain
                with into.open("ab") as file:
                    async for piece in answer.aiter_raw():
                        there += len(piece)
                        if there > blob.size:
                            raise Invalid(f"The blob {blob.digest} of {place.path} is larger than its manifest says.")
                        digest.update(piece)
                        await asyncio.to_thread(file.write, piece)
                        if progress is not None:
                            progress(there, blob.size)
            finally:
                await answer.aclose()
        except _StartAgain:
            await _gone(into)
            raise Unavailable(f"{place.registry} cannot resume downloads; starting again.") from None
        except httpx2.HTTPError as reason:
            raise _unreachable(place, reason) from reason
        if there < blob.size:
            raise Unavailable(
                f"{place.registry} ended the download of {blob.digest} after {there} of {blob.size} bytes."
            )

    # --- requests -----------------------------------------------------------------------------------------------------

    async def _get(self, place: ImageReference, path: str, *, accept: str, limit: int) -> tuple[bytes, httpx2.Headers]:
        problem: Error = Unavailable(f"{place.registry} gave no answer.")
        for attempt in range(ATTEMPTS):
            try:
                answer = await self._send(place, path, extra={"Accept": accept})
                try:
                    self._require(answer, place)
                    return await _read(answer, most=limit), answer.headers
                finally:
                    await answer.aclose()
            except httpx2.HTTPError as reason:
                problem = _unreachable(place, reason)
            except Unavailable as reason:
                problem = reason
            await asyncio.sleep(self._pause * 2**attempt)
        raise problem

    async def _send(self, place: ImageReference, path: str, *, extra: Mapping[str, str]) -> httpx2.Response:
        """Ask; when refused for want of a valid token, get one and ask once more. The answer is to be closed."""
        answer = await self._client.send(self._request(place, path, extra=extra), stream=True)
        if answer.status_code == UNAUTHORIZED:
            try:
                ask_again = await self._answered(place, answer)
            except BaseException:
                await answer.aclose()
                raise
            if ask_again:
                await answer.aclose()
                answer = await self._client.send(self._request(place, path, extra=extra), stream=True)
        return answer

    def _request(self, place: ImageReference, path: str, *, extra: Mapping[str, str]) -> httpx2.Request:
        scheme = "http" if place.registry in self._plain else "https"
        headers = dict(extra)
        if known := self._headers.get((place.registry, place.repository)):
            headers["Authorization"] = known
        return self._client.build_request(
            "GET", f"{scheme}://{place.registry}/v2/{place.repository}/{path}", headers=headers
        )

    def _require(self, answer: httpx2.Response, place: ImageReference) -> None:
        match answer.status_code:
            case 200 | 206:
                return
            case 401 | 403:
                raise Forbidden(
                    f"{place.registry} does not let us read {place.repository}. "
                    "Check that the pull secret has valid credentials for it."
                )
            case 404:
                raise NotFound(f"There is no {place}.")
            case status if status in WORTH_ANOTHER_TRY:
                raise Unavailable(f"{place.registry} answered {status}; try again later.")
            case status:
                raise Invalid(f"{place.registry} answered {status} to a request for {place}.")

    # --- tokens -------------------------------------------------------------------------------------------------------

    async def _answered(self, place: ImageReference, refusal: httpx2.Response) -> bool:
        """Answer a challenge; false if there is nothing more we could say."""
        challenge = parse_challenge(refusal.headers.get("www-authenticate", ""))
        auth = self._pull_secret.auth_of(place.path)
        key = (place.registry, place.repository)
        refused = self._headers.pop(key, "")
        match challenge:
            case Challenge(scheme="basic") if auth:
                self._headers[key] = f"Basic {auth}"
            case Challenge(scheme="bearer", realm=realm) if realm:
                self._headers[key] = f"Bearer {await self._token(place, challenge, auth=auth)}"
            case _:
                return False
        return self._headers[key] != refused

    async def _token(self, place: ImageReference, challenge: Challenge, *, auth: str) -> str:
        realm = urlsplit(challenge.realm)
        if realm.scheme != "https" and place.registry not in self._plain:
            raise Forbidden(
                f"{place.registry} sends us to {realm.hostname} without TLS for a token; nothing was sent there."
            )
        scope = challenge.scope or f"repository:{place.repository}:pull"
        wanted = {"service": challenge.service, "scope": scope}
        async with self._client.stream(
            "GET",
            challenge.realm,
            params={name: value for name, value in wanted.items() if value},
            headers={"Authorization": f"Basic {auth}"} if auth else {},
        ) as answer:
            status, content = answer.status_code, await _read(answer, most=TOKEN_LIMIT)
        if status in WORTH_ANOTHER_TRY:
            raise Unavailable(f"The token service of {place.registry} answered {status}; try again later.")
        if status != OK:
            raise Forbidden(
                f"The token service of {place.registry} refused our credentials for {place.repository}. "
                "Check that the pull secret is valid and covers this repository."
            )
        try:
            given = msgspec.json.decode(content, type=_Token)
        except msgspec.DecodeError as reason:
            raise Invalid(f"The token service of {place.registry} gave an answer that is no token.") from reason
        return given.token or given.access_token


class _StartAgain(Exception):
    """The registry ignored the range; what we have cannot be continued."""


def _begun(path: Path, digest: Digest, *, most: int) -> int:
    """Take what an earlier attempt left into the digest; too much of it cannot be right and goes."""
    try:
        with path.open("rb") as file:
            while piece := file.read(2**20):
                digest.update(piece)
            size = file.tell()
    except FileNotFoundError:
        return 0
    if size > most:
        path.unlink()
        raise Unavailable("An earlier download was larger than it may be and was thrown away; starting again.")
    return size


async def _read(answer: httpx2.Response, *, most: int) -> bytes:
    """A small answer as a whole; one that goes on and on is left."""
    content = bytearray()
    async for piece in answer.aiter_bytes():
        content += piece
        if len(content) > most:
            host = answer.request.url.host
            raise TooLarge(f"{host} answers with more than {most} bytes, which no manifest or token of a release has.")
    return bytes(content)


async def _gone(path: Path) -> None:
    await asyncio.to_thread(path.unlink, missing_ok=True)


def _unreachable(place: ImageReference, reason: httpx2.HTTPError) -> Unavailable:
    return Unavailable(f"{place.registry} cannot be reached: {reason or type(reason).__name__}.")
