"""The built files of the UI: read once, with the compressed forms that were made when they were built."""

import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final

BUILT: Final = Path(__file__).parent / "dist"
"""Where the build puts its files, inside the package so that they travel in the wheel."""
INDEX: Final = "index.html"
ENCODINGS: Final = {"br": ".br", "gzip": ".gz"}
"""Best first."""
_NAMED_BY_CONTENT: Final = "assets/"
_FOREVER: Final = "public, max-age=31536000, immutable"
_ASK_FIRST: Final = "no-cache"
_TYPES: Final = {".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".woff2": "font/woff2"}


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticFile:
    content_type: str
    cache_control: str
    etag: str
    plain: bytes
    compressed: Mapping[str, bytes]
    """Encoding → bytes, in the order of preference."""


def read_files(folder: Path) -> Mapping[str, StaticFile]:
    """Path below the site → file; nothing when the UI was not built."""
    if not (folder / INDEX).is_file():
        return {}
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix not in ENCODINGS.values())
    return {path.relative_to(folder).as_posix(): _read(path, folder) for path in found if not path.name.startswith(".")}


def _read(path: Path, folder: Path) -> StaticFile:
    content = path.read_bytes()
    forms = {name: path.with_name(path.name + suffix) for name, suffix in ENCODINGS.items()}
    name = path.relative_to(folder).as_posix()
    return StaticFile(
        content_type=_type_of(path),
        cache_control=_FOREVER if name.startswith(_NAMED_BY_CONTENT) else _ASK_FIRST,
        etag=f'"{blake2b(content, digest_size=12).hexdigest()}"',
        plain=content,
        compressed={name: form.read_bytes() for name, form in forms.items() if form.is_file()},
    )


def _type_of(path: Path) -> str:
    if path.suffix == ".html":
        return "text/html; charset=utf-8"
    return _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
