"""The image service: from a request to the image that answers it."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec
import structlog

from firstlight.core.errors import Error, Invalid, NotFound
from firstlight.core.versions.releases import FULL_ISO
from firstlight.server.auth.certificates import Trust
from firstlight.server.auth.origins import Hosts
from firstlight.server.imaging import assembly
from firstlight.server.imaging.answers import Answer, Image, Request, refusal, refused, text
from firstlight.server.imaging.base_images import Base, State
from firstlight.server.imaging.conditions import answer_with
from firstlight.server.imaging.environments import Asked, Credential, Customisation, Environments
from firstlight.server.imaging.metrics import Metrics
from firstlight.server.imaging.options import Options
from firstlight.server.imaging.pins import Pins
from firstlight.server.imaging.routes import MINIMAL_ISO, BootArtifact, DiscoveryIso, Page, PxeInitrd, route
from firstlight.server.imaging.stock import library_of

log = structlog.get_logger(__name__)

MOST_IMAGES: Final = 2_048
_ALLOW: Final = b"Allow: GET, HEAD\r\n"
_PLAIN: Final = "text/plain; version=0.0.4; charset=utf-8"

_Made = tuple[Base, Asked | None, Customisation | None, Image]


class ImageService:
    def __init__(self, options: Options, *, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self.metrics = Metrics()
        self.library = library_of(options)
        self.environments = Environments(
            options.api_url,
            metrics=self.metrics,
            trust=Trust(ca_file=options.api_ca_file, pin_file=options.api_pin_file),
        )
        self._options = options
        self._pins = Pins()
        self._images: OrderedDict[tuple[bytes, str], _Made] = OrderedDict()
        """By target, which holds keys and tokens of the query, and Authorization header."""
        self._minimal: dict[str, assembly.Minimal] = {}
        self._hosts = None if options.host_names is None else Hosts(options.host_names)
        self._origins = frozenset(options.allowed_domains)

    # --- what the connections call ----------------------------------------------------------------------------------

    def quick(self, request: Request) -> Answer | None:
        """The answer from memory, when the image was made before and nothing has changed since."""
        if request.method not in (b"GET", b"HEAD"):
            return refusal(405, "Images can be read with GET and HEAD, nothing else.", headers=_ALLOW)
        if self._hosts is not None and not self._hosts.accepts(request.header(b"host")):
            return _misdirected(request.header(b"host"))
        try:
            wanted = route(request.target)
        except Error as error:
            return self._shared(request, refused(error))
        if isinstance(wanted, Page):
            return self._page(wanted)
        if not isinstance(wanted, BootArtifact) and wanted.proof.ends_at <= self._now():
            return self._shared(request, self._ended(request, wanted.handler))
        made = self._images.get((request.target, request.header(b"authorization")))
        if made is None:
            return None
        base, asked, customisation, image = made
        if self.library.ready(base.image) is not base:
            return None
        if asked is not None and self.environments.fresh(asked) is not customisation:
            return None
        return self._shared(request, self._offered(request, image, wanted.handler))

    async def answer(self, request: Request) -> Answer:
        wanted = route(request.target)
        assert not isinstance(wanted, Page)
        try:
            image = await self._image(request, wanted)
        except Error as error:
            answer = refused(error, handler=wanted.handler)
            if answer.status >= 500:
                log.warning("an image cannot be given", path=wanted.handler, reason=str(error))
            return self._shared(request, answer)
        except Exception:
            log.exception("an image could not be made", path=wanted.handler)
            return refusal(
                500, "The image could not be made; the log of the image service says why.", handler=wanted.handler
            )
        return self._shared(request, self._offered(request, image, wanted.handler))

    def done(self, request: Request, answer: Answer, *, seconds: float, sent: int) -> None:
        self.metrics.request(answer.handler, request.method, answer.status, seconds=seconds, sent=sent)

    async def close(self) -> None:
        await self.library.close()
        await self.environments.close()

    # --- images -----------------------------------------------------------------------------------------------------

    async def _image(self, request: Request, wanted: DiscoveryIso | PxeInitrd | BootArtifact) -> Image:
        kind = wanted.image_type if isinstance(wanted, DiscoveryIso) and wanted.image_type != MINIMAL_ISO else FULL_ISO
        found = self._find(wanted, kind)
        # Who may have this image is for the API to say: it is asked before anything is fetched or made.
        asked = None if isinstance(wanted, BootArtifact) else _asked(wanted, request)
        customisation = await self.environments.get(asked) if asked is not None else None
        base = await self.library.open(found)
        image = await asyncio.to_thread(self._make, wanted, base, customisation)
        key = (request.target, request.header(b"authorization"))
        self._images[key] = (base, asked, customisation, image)
        self._images.move_to_end(key)
        if len(self._images) > MOST_IMAGES:
            self._images.popitem(last=False)
        return image

    def _find(self, wanted: DiscoveryIso | PxeInitrd | BootArtifact, kind: str):
        try:
            return self.library.find(wanted.version, wanted.architecture, kind=kind)
        except NotFound as error:
            if isinstance(wanted, DiscoveryIso):
                raise
            raise Invalid(str(error)) from None

    def _make(
        self, wanted: DiscoveryIso | PxeInitrd | BootArtifact, base: Base, customisation: Customisation | None
    ) -> Image:
        if isinstance(wanted, BootArtifact) or customisation is None:
            assert isinstance(wanted, BootArtifact)
            return assembly.boot_artifact(base, wanted.name)
        folder = Path(self._options.folder)
        if isinstance(wanted, PxeInitrd):
            initrd = assembly.pxe_initrd(base, customisation, infra_env_id=wanted.infra_env_id, folder=folder)
            if not wanted.only_size:
                return initrd
            return assembly.initrd_address_and_size(base, initrd, infra_env_id=wanted.infra_env_id)
        if wanted.image_type != MINIMAL_ISO:
            return assembly.full_image(base, customisation, infra_env_id=wanted.infra_env_id, kind=wanted.image_type)
        minimal = self._minimal.get(base.name)
        if minimal is None:
            minimal = assembly.Minimal(base, base_url=self._options.base_url, folder=folder)
            self._minimal[base.name] = minimal
        return minimal.image(customisation, infra_env_id=wanted.infra_env_id)

    def _offered(self, request: Request, image: Image, handler: str) -> Answer:
        """Range readers that name no version go on with theirs; everybody else gets the newest."""
        headers = request.headers
        if b"range" in headers and b"if-range" not in headers and b"if-match" not in headers:
            image = self._pins.choose(request.client, request.target, image)
        return answer_with(image, request, handler=handler)

    def _ended(self, request: Request, handler: str) -> Answer:
        """Whoever is reading pieces of an image may read on; nobody begins."""
        image = self._pins.reading(request.client, request.target) if b"range" in request.headers else None
        if image is None:
            return refusal(401, "The time of this image URL is over. Ask the API for a new one.", handler=handler)
        return answer_with(image, request, handler=handler)

    # --- the rest ---------------------------------------------------------------------------------------------------

    def _page(self, page: Page) -> Answer:
        if page.name == "metrics":
            self._count_base_images()
            return text(self.metrics.text(), content_type=_PLAIN, handler=page.handler)
        if page.name == "base-images":
            listed = [msgspec.structs.replace(one, path="") for one in self.library.listing()]
            return text(msgspec.json.encode(listed), content_type="application/json", handler=page.handler)
        return text(b"", handler=page.handler)

    def _count_base_images(self) -> None:
        listed = self.library.listing()
        for state in State:
            self.metrics.base_images.labels(state.value).set(sum(one.state is state for one in listed))
        self.metrics.disk_bytes.set(sum(one.bytes_on_disk for one in listed))

    def _shared(self, request: Request, answer: Answer) -> Answer:
        """Browsers of the configured origins may read answers."""
        if not self._origins or (origin := request.header(b"origin")) not in self._origins:
            return answer
        more = f"Access-Control-Allow-Origin: {origin}\r\nVary: Origin\r\n".encode("latin-1")
        return msgspec.structs.replace(answer, headers=answer.headers + more)


def _misdirected(host: str) -> Answer:
    return refusal(
        421,
        f"The image service is not known as '{host[:100]}'. Call it by its address, or by a name in"
        " FIRSTLIGHT_IMAGE_SERVICE_BASE_URL or FIRSTLIGHT_ALLOWED_HOSTS.",
    )


def _credential(wanted: DiscoveryIso | PxeInitrd, request: Request) -> Credential:
    if wanted.proof.api_key:
        return Credential(api_key=wanted.proof.api_key)
    if wanted.proof.image_token:
        return Credential(image_token=wanted.proof.image_token)
    return Credential(authorization=request.header(b"authorization"))


def _asked(wanted: DiscoveryIso | PxeInitrd, request: Request) -> Asked:
    kind = wanted.image_type if isinstance(wanted, DiscoveryIso) else ""
    return Asked(wanted.infra_env_id, kind, _credential(wanted, request))
