"""The listener's certificate: loaded, checked, and loaded again when its files change."""

import asyncio
import re
import ssl
from pathlib import Path
from typing import Final, Literal

import structlog

from firstlight.core.errors import Invalid

log = structlog.get_logger(__name__)

LOOK_SECONDS: Final = 30.0
Version = Literal["1.2", "1.3"]
_PEM: Final = re.compile("-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)
_OLDEST: Final = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}


class Certificate:
    """`context` stays the same object: connections made after a reload get the new certificate."""

    def __init__(self, cert_file: Path, key_file: Path, *, oldest: Version = "1.2") -> None:
        self._files = (cert_file, key_file)
        self._oldest: Version = oldest
        self._seen = self._state()
        self.context = self._loaded()

    def reload_if_changed(self) -> bool:
        """Was there a new one? Files that do not fit together, as while they are being replaced, change nothing."""
        seen = self._state()
        if seen == self._seen:
            return False
        try:
            # Tried apart first: a pair that does not fit would leave the context in use with half of it.
            self._loaded()
            self.context.load_cert_chain(*self._files, password="")
        except (Invalid, OSError) as trouble:
            log.warning("the new certificate cannot be used; the old one stays", reason=str(trouble))
            return False
        self._seen = seen
        log.info("a new certificate is in use", file=str(self._files[0]))
        return True

    async def watch(self, *, every: float = LOOK_SECONDS) -> None:
        """Until cancelled."""
        while True:
            await asyncio.sleep(every)
            self.reload_if_changed()

    def _loaded(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = _OLDEST[self._oldest]
        context.set_alpn_protocols(["http/1.1"])
        is_locked = False

        def no_password() -> str:
            """Without somebody to ask, OpenSSL would wait for whoever sits at the terminal."""
            nonlocal is_locked
            is_locked = True
            return ""

        try:
            context.load_cert_chain(*self._files, password=no_password)
        except OSError as error:
            reason = error.strerror if not isinstance(error, ssl.SSLError) else "they do not fit together"
            if is_locked:
                reason = "the key is locked by a password"
            raise Invalid(
                f"HTTPS_CERT_FILE and HTTPS_KEY_FILE ({self._files[0]}, {self._files[1]}) cannot be used: {reason}."
                " Give a certificate chain and its key, both as PEM and readable without a password."
            ) from None
        return context

    def _state(self) -> tuple[tuple[int, int, int], ...]:
        return tuple(_state_of(path) for path in self._files)


def _state_of(path: Path) -> tuple[int, int, int]:
    try:
        found = path.stat()
    except OSError:
        return (0, 0, 0)
    return (found.st_ino, found.st_mtime_ns, found.st_size)


class Trust:
    """How a client trusts a server: by authorities, or by the very certificate the server was given.

    The second is for a service that calls itself by an address its certificate does not name.
    """

    def __init__(self, *, ca_file: str = "", pin_file: str = "") -> None:
        self._ca_file = ca_file
        self._pin_file = pin_file
        self._known: tuple[tuple[int, int, int], ssl.SSLContext] | None = None

    def context(self) -> ssl.SSLContext | bool:
        """True means the system's authorities."""
        file = self._ca_file or self._pin_file
        if not file:
            return True
        state = _state_of(Path(file))
        if self._known is None or self._known[0] != state:
            try:
                self._known = (state, self._trusting())
            except OSError as trouble:
                if self._known is None:
                    raise
                log.warning("a certificate to trust cannot be read; the old one stays", file=file, reason=str(trouble))
        return self._known[1]

    def _trusting(self) -> ssl.SSLContext:
        if self._ca_file:
            return ssl.create_default_context(cafile=self._ca_file)
        # Behind the server's own certificate may stand those of its issuers: who has one of theirs is not the server.
        own = _PEM.search(Path(self._pin_file).read_text("latin-1"))
        context = ssl.create_default_context(cadata=own[0] if own else "")
        context.check_hostname = False
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        return context
