"""The keys of the seal: given by a setting, or in a file that the service makes at its first start.

One key per line or word, as base64 or hexadecimal digits of 32 bytes. The first one seals, the others are for reading
what was sealed before it came.
"""

import binascii
import os
import re
import secrets
from base64 import b64decode, b64encode
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from firstlight.core.errors import Invalid, Unavailable
from firstlight.server.durable import sync_folder
from firstlight.server.sealing.seal import KEY_BYTES
from firstlight.server.settings import Settings

FILE: Final = "encryption-key"
"""In the data directory, unless a setting names another."""
SETTING: Final = "FIRSTLIGHT_ENCRYPTION_KEY"
HEXADECIMAL: Final = re.compile(r"[0-9a-fA-F]{64}")


class KeyPlace(Struct, frozen=True, kw_only=True):
    """Where a service has its keys from."""

    file: Path
    is_own: bool = True
    """The file is the service's own, to be made if it is missing."""
    given: str = ""
    """Keys from a setting; they count instead of the file."""

    def __str__(self) -> str:
        return SETTING if self.given else f"the key file {self.file}"

    def known(self) -> list[bytes] | None:
        """None: there are none yet."""
        return parse_keys(self.given, where=SETTING) if self.given else read_keys(self.file)

    def made(self) -> list[bytes]:
        if not self.is_own:
            raise Invalid(
                f"The key file {self.file} does not exist. Make it with 'openssl rand -base64 {KEY_BYTES}', readable by"
                " the service's user only."
            )
        return make_key_file(self.file)


def place_of(settings: Settings) -> KeyPlace:
    given = "" if settings.encryption_key is None else settings.encryption_key.get_secret_value()
    file = settings.encryption_key_file
    return KeyPlace(given=given, file=file or settings.data_dir / FILE, is_own=file is None)


def parse_keys(text: str, *, where: str) -> list[bytes]:
    """Raises Invalid that names the place and never repeats what it holds."""
    lines = (line.partition("#")[0] for line in text.splitlines())
    keys = [_key(word, where=where) for line in lines for word in re.split(r"[\s,]+", line) if word]
    if not keys:
        raise Invalid(f"{where} holds no key. Make one with 'openssl rand -base64 {KEY_BYTES}'.")
    return keys


def _key(word: str, *, where: str) -> bytes:
    with suppress(binascii.Error, ValueError):
        key = bytes.fromhex(word) if HEXADECIMAL.fullmatch(word) else b64decode(word, validate=True)
        if len(key) == KEY_BYTES:
            return key
    raise _no_key(where)


def _no_key(where: str) -> Invalid:
    return Invalid(
        f"{where} holds something that is no key of {KEY_BYTES} bytes in base64 or hexadecimal digits."
        f" Make one with 'openssl rand -base64 {KEY_BYTES}'."
    )


def read_keys(path: Path) -> list[bytes] | None:
    """None if there is no such file."""
    where = f"The key file {path}"
    try:
        return parse_keys(path.read_text("utf-8"), where=where)
    except FileNotFoundError:
        return None
    except UnicodeError:
        # Its words repeat what it met.
        raise _no_key(where) from None
    except OSError as error:
        raise Unavailable(f"{where} cannot be read: {error}.") from None


def make_key_file(path: Path) -> list[bytes]:
    """A new key in a file for the service's own user only; where somebody else was faster, theirs."""
    text = b64encode(secrets.token_bytes(KEY_BYTES)).decode() + "\n"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write_once(path, text)
    except OSError as error:
        raise Unavailable(
            f"The key file {path} cannot be made: {error.strerror}. Make its folder writable, or give a key with"
            f" {SETTING}."
        ) from error
    return read_keys(path) or []


def _write_once(path: Path, text: str) -> None:
    # Others may start in the same folder with the same process id, in containers of their own.
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(part, path)
    finally:
        part.unlink(missing_ok=True)
    sync_folder(path.parent)
