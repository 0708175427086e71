"""The base images of the image service: listed by its own page, fetched by wanting a piece of one."""

from contextlib import suppress
from typing import Final

import aiohttp
import msgspec

from firstlight.core.errors import Unavailable
from firstlight.server.auth.certificates import Trust
from firstlight.server.ports.base_images import BaseImage
from firstlight.server.settings import Settings

TIMEOUT: Final = aiohttp.ClientTimeout(total=10, sock_connect=5)
LARGEST_ANSWER: Final = 4 * 2**20
_NEAR: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - listened on, and called nearby
_OK: Final = 200
_decode: Final = msgspec.json.Decoder(tuple[BaseImage, ...]).decode


class ImageService:
    def __init__(self, url: str, *, trust: Trust | None = None) -> None:
        self._url = url
        self._trust = trust or Trust()

    async def listing(self) -> tuple[BaseImage, ...]:
        status, body = await self._get("/base-images", {})
        if status != _OK:
            raise Unavailable(f"The image service does not list its base images: it answered with status {status}.")
        with suppress(msgspec.MsgspecError):
            if len(body) <= LARGEST_ANSWER:
                return _decode(body)
        raise Unavailable(f"The image service at {self._url} gave a list that cannot be read.")

    async def fetch(self, version: str, architecture: str) -> None:
        # Whoever wants the kernel of an image that is not here has it downloaded.
        await self._get("/boot-artifacts/kernel", {"version": version, "arch": architecture})

    async def _get(self, path: str, query: dict[str, str]) -> tuple[int, bytes]:
        try:
            async with (
                aiohttp.ClientSession(timeout=TIMEOUT) as session,
                session.get(
                    self._url + path,
                    params=query,
                    headers={"Range": "bytes=0-0"} if query else {},
                    ssl=self._trust.context(),
                ) as answer,
            ):
                return answer.status, await _body(answer)
        except (aiohttp.ClientError, TimeoutError, OSError):
            raise Unavailable(f"The image service at {self._url} does not answer.") from None


async def _body(answer: aiohttp.ClientResponse) -> bytes:
    """The whole of it, but of one that is too long not much more than may be."""
    body = bytearray()
    async for piece in answer.content.iter_any():
        body += piece
        if len(body) > LARGEST_ANSWER:
            break
    return bytes(body)


def image_service_of(settings: Settings) -> ImageService | None:
    """The one beside the API, or the one elsewhere that hosts are sent to; none where neither is known."""
    if settings.enable_image_service:
        host, _, port = settings.images_listen.rpartition(":")
        near = _NEAR.get(host.strip("[]"), host.strip("[]")) or "127.0.0.1"
        certificate = str(settings.https_files[0]) if settings.https_files else ""
        url = f"{settings.scheme}://{f'[{near}]' if ':' in near else near}:{port}"
        return ImageService(url, trust=Trust(pin_file=certificate))
    elsewhere = settings.image_service_base_url.rstrip("/")
    return ImageService(elsewhere) if elsewhere else None
