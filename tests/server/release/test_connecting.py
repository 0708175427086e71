"""How registries are reached: private authorities, mirrors nobody can check, proxies of the environment."""

import json
import ssl
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from firstlight.core.errors import Invalid, Unavailable
from firstlight.core.install.inputs import MirrorRegistries
from firstlight.core.validate.pull_secret import PullSecret
from firstlight.core.versions.image_reference import parse_reference
from firstlight.server.release import registry
from firstlight.server.release.connecting import open_registries
from tests.auth.certificates import a_certificate
from tests.registries import MANIFEST
from tests.small_web import Web, running_web, says

pytestmark = pytest.mark.anyio

DIGEST = "sha256:" + "0" * 64
CONFIG = {"mediaType": "application/vnd.oci.image.config.v1+json", "digest": DIGEST, "size": 2}
IMAGE = json.dumps({"schemaVersion": 2, "mediaType": MANIFEST, "config": CONFIG, "layers": []}).encode()
PAGE = says(IMAGE, Content_Type=MANIFEST)
PATH = "/v2/ocp/release/manifests/1"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "ATTEMPTS", 1)


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    return a_certificate(tmp_path)


@pytest.fixture
def web(certificate: tuple[Path, Path]) -> Iterator[Web]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    with running_web(context) as web:
        web.pages[PATH] = PAGE
        yield web


async def read(host: str, *, plain: bool = False, bundle: str = "", mirrors: MirrorRegistries | None = None) -> str:
    plains = frozenset({host}) if plain else frozenset[str]()
    async with open_registries(PullSecret({}), mirrors=mirrors, bundle=bundle, plain=plains) as registries:
        exact, _ = await registries.image(parse_reference(f"{host}/ocp/release:1"), architecture="x86_64")
    return str(exact)


async def test_an_authority_of_the_operator_is_trusted_and_nobody_else(
    web: Web, certificate: tuple[Path, Path]
) -> None:
    host = urlsplit(web.url).netloc
    assert (await read(host, bundle=certificate[0].read_text())).startswith(f"{host}/ocp/release@sha256:")
    with pytest.raises(Unavailable, match=f"{host} cannot be reached: .*certificate"):
        await read(host)


@pytest.mark.parametrize(("insecure", "reached"), [("{host}/mirror", True), ("{host}", True), ("other:5000", False)])
async def test_a_mirror_may_be_called_insecure(web: Web, insecure: str, reached: bool) -> None:
    host = urlsplit(web.url).netloc
    mirrors = MirrorRegistries(registries_conf="", insecure=(insecure.format(host=host),))
    if reached:
        assert await read(host, mirrors=mirrors)
    else:
        with pytest.raises(Unavailable, match="certificate"):
            await read(host, mirrors=mirrors)


async def test_what_is_no_certificate_is_refused() -> None:
    with pytest.raises(Invalid, match="CA bundle"):
        await read("registry.example", bundle="-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n")


async def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with running_web() as proxy:
        proxy.pages[f"http://registry.example{PATH}"] = PAGE
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("http_proxy", proxy.url)
        assert await read("registry.example", plain=True)
        assert [path for path, _ in proxy.seen] == [f"http://registry.example{PATH}"]
