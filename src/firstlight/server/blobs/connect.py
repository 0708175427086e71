"""From a URL to a place for blobs."""

from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from firstlight.core.errors import Invalid
from firstlight.server.blobs.folder import FolderBlobs
from firstlight.server.blobs.s3 import DEFAULT_REGION, Bucket, S3Blobs
from firstlight.server.ports.blobs import Blobs


def open_blobs(url: str, *, access_key: str = "", secret_key: str = "") -> Blobs:
    """`file:///folder` or a plain path; `s3://bucket/prefix?endpoint=https://…&region=…` with keys given apart."""
    parts = urlsplit(url)
    if parts.scheme == "s3" and parts.netloc:
        query = parse_qs(parts.query)
        return S3Blobs(
            Bucket(
                name=parts.netloc,
                endpoint=query.get("endpoint", [""])[0].rstrip("/"),
                region=query.get("region", [DEFAULT_REGION])[0],
                prefix=unquote(parts.path).strip("/"),
                access_key=access_key,
                secret_key=secret_key,
            )
        )
    if parts.scheme == "file" and parts.netloc in ("", "localhost"):
        return FolderBlobs(Path(unquote(parts.path)))
    if "://" in url or not url:
        raise Invalid(
            f"The place for files begins with {parts.scheme!r}, which is not known."
            " Use file:///path/to/folder or s3://bucket?endpoint=https://host&region=name."
        )
    return FolderBlobs(Path(url))
