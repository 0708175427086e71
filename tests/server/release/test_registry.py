"""The registry client against Debian's registry, open and guarded by tokens."""

import base64
import hashlib
from collections.abc import AsyncIterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from firstlight.core.errors import Forbidden, Invalid, NotFound, TooLarge, Unavailable
from firstlight.core.install.inputs import MirrorRegistries, RegistryMirror
from firstlight.core.validate.pull_secret import PullSecret
from firstlight.core.versions.image_reference import parse_reference
from firstlight.server.release.images import Image
from firstlight.server.release.manifests import Descriptor
from firstlight.server.release.registry import Registries
from tests.registries import MANIFEST, PASSWORD, USER, Registry, layer
from tests.small_web import running_web

pytestmark = pytest.mark.anyio
NOBODY = PullSecret({})
CREDENTIALS = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()


@pytest.fixture
async def client() -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(follow_redirects=True) as client:
        yield client


def opened(client: httpx2.AsyncClient, registry: Registry, *, secret: PullSecret = NOBODY) -> Registries:
    return Registries(client, pull_secret=secret, plain=frozenset({registry.host}), pause=0.001)


async def read(registries: Registries, name: str, path: str, folder: Path, *, architecture: str = "x86_64") -> bytes:
    exact, manifest = await registries.image(parse_reference(name), architecture=architecture)
    return await Image(registries, exact, manifest, folder=folder).content(path, most=1000)


@pytest.mark.parametrize("by_digest", [True, False])
async def test_a_file_is_found_by_tag_and_by_digest(
    client: httpx2.AsyncClient, registry: Registry, tmp_path: Path, by_digest: bool
) -> None:
    exact = registry.push("ocp/release", [layer({"a": b"old"}), layer({"a": b"new", "b": b"other"})], tag="one")
    name = exact if by_digest else f"{registry.host}/ocp/release:one"
    assert await read(opened(client, registry), name, "/a", tmp_path) == b"new"


LAYERS = {
    "older layer": ([{"d/f": b"x"}, {"other": b""}], b"x"),
    "symbolic link": (
        [{"usr/bin/real": b"x"}, {"bin": ("symlink", "usr/bin"), "d/f": ("symlink", "../bin/real")}],
        b"x",
    ),
    "link to the root": ([{"real": b"x", "d/f": ("symlink", "/real")}], b"x"),
    "link out of the image": ([{"real": b"x", "d/f": ("symlink", "../../../../real")}], b"x"),
    "hard link": ([{"d/g": b"x", "d/f": ("hardlink", "d/g")}], b"x"),
    "replaced target": ([{"t": b"old", "d/f": ("symlink", "/t")}, {"t": b"x"}], b"x"),
    "leading dots": ([{"./d/f": b"x"}], b"x"),
    "removed": ([{"d/f": b"x"}, {"d/.wh.f": b""}], None),
    "folder removed": ([{"d/f": b"x"}, {".wh.d": b""}], None),
    "folder emptied": ([{"d/f": b"x"}, {"d/.wh..wh..opq": b""}], None),
    "removed and made again": ([{"d/f": b"old"}, {"d/.wh..wh..opq": b"", "d/f": b"x"}], b"x"),
    "absent": ([{"d/g": b"x"}], None),
}


@pytest.mark.parametrize("case", LAYERS)
async def test_the_newest_layer_decides(
    client: httpx2.AsyncClient, registry: Registry, tmp_path: Path, case: str
) -> None:
    layers, expected = LAYERS[case]
    name = registry.push("ocp/release", [layer(one) for one in layers])
    if expected is None:
        with pytest.raises(NotFound, match="There is no /d/f in the image"):
            await read(opened(client, registry), name, "d/f", tmp_path)
    else:
        assert await read(opened(client, registry), name, "d/f", tmp_path) == expected


async def test_a_circle_of_links_ends(client: httpx2.AsyncClient, registry: Registry, tmp_path: Path) -> None:
    name = registry.push("ocp/release", [layer({"a": ("symlink", "b"), "b": ("symlink", "a")})])
    with pytest.raises(Invalid, match="leads in a circle"):
        await read(opened(client, registry), name, "a", tmp_path)


async def test_an_index_is_read_for_the_architecture(
    client: httpx2.AsyncClient, registry: Registry, tmp_path: Path
) -> None:
    images = {arch: registry.push("ocp/release", [layer({"a": arch.encode()})]) for arch in ("amd64", "arm64", "s390x")}
    name = registry.push_index("ocp/release", images, tag="multi")
    registries = opened(client, registry)
    for ours, theirs in {"x86_64": b"amd64", "arm64": b"arm64", "aarch64": b"arm64", "s390x": b"s390x"}.items():
        assert await read(registries, name, "a", tmp_path, architecture=ours) == theirs
    with pytest.raises(NotFound, match="no variant for ppc64le; it has amd64, arm64, s390x"):
        await registries.image(parse_reference(name), architecture="ppc64le")


async def test_a_changed_blob_is_thrown_away(client: httpx2.AsyncClient, registry: Registry, tmp_path: Path) -> None:
    data = b"0123456789" * 1000
    pushed = registry.push_blob("ocp/release", data)
    blob = Descriptor(digest=str(pushed["digest"]), size=len(data))
    registry.blob_file(blob.digest).write_bytes(data.replace(b"5", b"6"))
    place = parse_reference(f"{registry.host}/ocp/release")
    with pytest.raises(Invalid, match="arrived changed"):
        await opened(client, registry).blob(place, blob, into=tmp_path / "blob")
    assert not (tmp_path / "blob").exists()


@pytest.mark.parametrize("there", [0, 1, 4999, 9999, 10_000])
async def test_a_download_goes_on_where_it_broke_off(
    client: httpx2.AsyncClient, registry: Registry, tmp_path: Path, there: int
) -> None:
    data = bytes(range(250)) * 40
    pushed = registry.push_blob("ocp/release", data)
    (tmp_path / "blob").write_bytes(data[:there])
    seen: list[int] = []
    await opened(client, registry).blob(
        parse_reference(f"{registry.host}/ocp/release"),
        Descriptor(digest=str(pushed["digest"]), size=len(data)),
        into=tmp_path / "blob",
        progress=lambda done, _: seen.append(done),
    )
    assert (tmp_path / "blob").read_bytes() == data
    assert all(done > there for done in seen)
    assert seen[-1:] == ([len(data)] if there < len(data) else [])


async def test_a_wrong_beginning_is_noticed_and_fetched_anew(
    client: httpx2.AsyncClient, registry: Registry, tmp_path: Path
) -> None:
    data = b"right" * 1000
    pushed = registry.push_blob("ocp/release", data)
    blob = Descriptor(digest=str(pushed["digest"]), size=len(data))
    (tmp_path / "blob").write_bytes(b"wrong")
    place = parse_reference(f"{registry.host}/ocp/release")
    with pytest.raises(Invalid, match="arrived changed"):
        await opened(client, registry).blob(place, blob, into=tmp_path / "blob")
    await opened(client, registry).blob(place, blob, into=tmp_path / "blob")
    assert (tmp_path / "blob").read_bytes() == data


async def test_a_manifest_that_is_not_what_its_digest_says_is_refused(
    client: httpx2.AsyncClient, registry: Registry
) -> None:
    name = registry.push("ocp/release", [layer({"a": b"one"})])
    damaged = registry.blob_file(name.partition("@")[2])
    damaged.write_bytes(damaged.read_bytes() + b" ")
    with pytest.raises((Invalid, NotFound)):
        await opened(client, registry).image(parse_reference(name), architecture="x86_64")


async def test_a_token_is_fetched_with_the_pull_secret(
    client: httpx2.AsyncClient, guarded: Registry, tmp_path: Path
) -> None:
    name = guarded.push("ocp/release", [layer({"a": b"inside"})])
    secret = PullSecret({guarded.host: CREDENTIALS})
    assert await read(opened(client, guarded, secret=secret), name, "a", tmp_path) == b"inside"


@pytest.mark.parametrize("auths", [{}, {"other.example": CREDENTIALS}])
async def test_without_credentials_the_sentence_names_registry_and_repository(
    client: httpx2.AsyncClient, guarded: Registry, auths: dict[str, str]
) -> None:
    name = guarded.push("ocp/release", [layer({"a": b"inside"})])
    with pytest.raises(Forbidden, match=f"token service of {guarded.host} refused .* ocp/release"):
        await opened(client, guarded, secret=PullSecret(auths)).image(parse_reference(name), architecture="x86_64")


async def test_wrong_credentials_are_refused_and_not_shown(client: httpx2.AsyncClient, guarded: Registry) -> None:
    name = guarded.push("ocp/release", [layer({"a": b"inside"})])
    wrong = base64.b64encode(b"puller:wrong-password").decode()
    with pytest.raises(Forbidden) as refusal:
        await opened(client, guarded, secret=PullSecret({guarded.host: wrong})).image(
            parse_reference(name), architecture="x86_64"
        )
    assert "wrong-password" not in str(refusal.value)
    assert wrong not in str(refusal.value)


async def test_credentials_do_not_travel_without_tls(guarded: Registry) -> None:
    """A registry on TLS that sends us to a plain token service gets nothing."""
    asked: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(str(request.url))
        return httpx2.Response(401, headers={"WWW-Authenticate": 'Bearer realm="http://tokens.example/token"'})

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as client:
        registries = Registries(client, pull_secret=PullSecret({"registry.example": CREDENTIALS}), pause=0.001)
        with pytest.raises(Forbidden, match="without TLS"):
            await registries.image(parse_reference("registry.example/ocp/release:1"), architecture="x86_64")
    assert asked == ["https://registry.example/v2/ocp/release/manifests/1"]


async def test_mirrors_are_asked_before_the_registry_itself(
    client: httpx2.AsyncClient, registry: Registry, tmp_path: Path
) -> None:
    mirrored = registry.push("mirror/release", [layer({"a": b"mirrored"})])
    digest = mirrored.partition("@")[2]
    mirrors = MirrorRegistries(
        registries_conf="",
        digest_mirrors=(
            RegistryMirror(source="public.invalid", mirrors=("never.invalid/x",)),
            RegistryMirror(source="public.invalid/ocp", mirrors=("127.0.0.1:1/empty", f"{registry.host}/mirror")),
        ),
    )
    registries = Registries(
        client,
        pull_secret=NOBODY,
        mirrors=mirrors,
        plain=frozenset({registry.host, "127.0.0.1:1"}),
        pause=0.001,
    )
    assert await read(registries, f"public.invalid/ocp/release@{digest}", "a", tmp_path) == b"mirrored"


async def test_layers_come_from_the_mirror_that_had_the_tag(
    client: httpx2.AsyncClient, registry: Registry, tmp_path: Path
) -> None:
    """By tag the mirror was found; by digest, which the layers are asked for with, there is none."""
    registry.push("mirror/release", [layer({"a": b"mirrored"})], tag="one")
    mirror = RegistryMirror(source="public.invalid/ocp", mirrors=(f"{registry.host}/mirror",))
    registries = Registries(
        client,
        pull_secret=NOBODY,
        mirrors=MirrorRegistries(registries_conf="", tag_mirrors=(mirror,)),
        plain=frozenset({registry.host}),
        pause=0.001,
    )
    assert await read(registries, "public.invalid/ocp/release:one", "a", tmp_path) == b"mirrored"


async def test_a_registry_that_is_not_there_is_named(client: httpx2.AsyncClient) -> None:
    registries = Registries(client, pull_secret=NOBODY, plain=frozenset({"127.0.0.1:1"}), pause=0.001)
    with pytest.raises(Unavailable, match="127.0.0.1:1 cannot be reached"):
        await registries.image(parse_reference("127.0.0.1:1/ocp/release:1"), architecture="x86_64")


async def test_a_blob_larger_than_its_manifest_says_is_not_kept_growing(
    client: httpx2.AsyncClient, registry: Registry, tmp_path: Path
) -> None:
    data = b"x" * 100_000
    registry.push_blob("ocp/release", data)
    blob = Descriptor(digest=f"sha256:{hashlib.sha256(data).hexdigest()}", size=1000)
    with pytest.raises(Invalid, match="larger than its manifest says"):
        await opened(client, registry).blob(
            parse_reference(f"{registry.host}/ocp/release"), blob, into=tmp_path / "blob"
        )


async def test_a_layer_that_is_no_archive_is_said(
    client: httpx2.AsyncClient, registry: Registry, tmp_path: Path
) -> None:
    config = registry.push_blob("ocp/release", b"{}")
    broken = registry.push_blob("ocp/release", b"this is no tar")
    manifest = {"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": [broken]}
    name = registry.push_manifest("ocp/release", manifest, kind=MANIFEST)
    with pytest.raises(Invalid, match="layer cannot be read"):
        await read(opened(client, registry), name, "a", tmp_path)


async def test_an_answer_without_an_end_is_left(client: httpx2.AsyncClient) -> None:
    sent: list[int] = []

    def endless(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        with suppress(OSError):
            while len(sent) < 1_000:
                request.wfile.write(b" " * 2**20)
                sent.append(1)

    with running_web() as web:
        host = urlsplit(web.url).netloc
        web.pages["/v2/ocp/release/manifests/one"] = endless
        registries = Registries(client, pull_secret=NOBODY, plain=frozenset({host}), pause=0.001)
        with pytest.raises(TooLarge, match="more than 4194304 bytes"):
            await registries.image(parse_reference(f"{host}/ocp/release:one"), architecture="x86_64")
    assert len(sent) < 100, "a gigabyte was taken into memory"
