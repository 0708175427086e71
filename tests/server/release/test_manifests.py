"""What a registry answers is not trusted: digests become file names and parts of addresses."""

import json

import pytest

from firstlight.core.errors import Invalid
from firstlight.server.release.manifests import LARGEST_BLOB, Manifest, parse_manifest

DIGEST = "sha256:" + "a" * 64


def a_manifest(*, digest: str = DIGEST, size: int = 1) -> bytes:
    config = {"digest": DIGEST, "size": 1}
    return json.dumps({"config": config, "layers": [{"digest": digest, "size": size}]}).encode()


@pytest.mark.parametrize(
    "digest",
    [
        "/etc/passwd",
        "../../../secrets",
        f"{DIGEST}/../../x",
        f"../{DIGEST}",
        f"{DIGEST}\n",
        "sha256:" + "A" * 64,
        DIGEST[:-1],
        f"{DIGEST}a",
        "sha512:" + "a" * 128,
        "",
    ],
)
def test_what_is_no_digest_is_refused(digest: str) -> None:
    with pytest.raises(Invalid, match="manifest cannot be read"):
        parse_manifest(a_manifest(digest=digest))
    index = {"manifests": [{"digest": digest, "size": 1, "platform": {"architecture": "amd64", "os": "linux"}}]}
    with pytest.raises(Invalid, match="manifest cannot be read"):
        parse_manifest(json.dumps(index).encode())


@pytest.mark.parametrize(("size", "fits"), [(-1, False), (0, True), (LARGEST_BLOB, True), (LARGEST_BLOB + 1, False)])
def test_sizes_have_bounds(size: int, fits: bool) -> None:
    if fits:
        assert isinstance(parse_manifest(a_manifest(size=size)), Manifest)
    else:
        with pytest.raises(Invalid, match="manifest cannot be read"):
            parse_manifest(a_manifest(size=size))
