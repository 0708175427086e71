"""Taking secrets out of text before it leaves the machine: pull secrets, tokens, password hashes, private keys.

What is masked is decided by form, line by line, except for private keys, which end where they say. Masking twice is
masking once.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

MASK: Final = "***"
KEY_LINES: Final = 200
"""A private key that does not end within these lines is cut off; what follows is text again."""

_WORDS: Final = r"(?:[\w.-]*(?:pull[_-]?secret|token|passw(?:or)?d|passphrase|secret[_-]?key|api[_-]?key|auth)[\w.-]*)"
_QUOTE: Final = r'\\{0,6}"'
_RULES: Final = (
    # "auth": "…" in JSON, also inside a JSON string where quotes are escaped
    (re.compile(rf"({_QUOTE}{_WORDS}{_QUOTE}\s*:\s*{_QUOTE})(?!\*\*\*)[^\"\\]+", re.IGNORECASE), rf"\1{MASK}"),
    # Authorization: Bearer …, X-Secret-Key: …
    (re.compile(r"\b((?:bearer|basic)\s+)(?!\*\*\*)[A-Za-z0-9+/_.=~-]{4,}", re.IGNORECASE), rf"\1{MASK}"),
    (re.compile(r"\b(x-secret-key['\"]?\s*[:=]\s*['\"]?)(?!\*\*\*)[^\s'\",]+", re.IGNORECASE), rf"\1{MASK}"),
    # NAME_TOKEN=…, --password …, password: …
    (re.compile(rf"((?<![\w.-]){_WORDS}\s*[=:]\s*['\"]?)(?!\*\*\*)[^\s'\",;}}{{)&\\]+", re.IGNORECASE), rf"\1{MASK}"),
    (re.compile(rf"(--?{_WORDS}\s+['\"]?)(?!\*\*\*|-)[^\s'\"]+", re.IGNORECASE), rf"\1{MASK}"),
    # signed tokens
    (re.compile(r"\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{2,}(?:\.[A-Za-z0-9_-]*)?"), MASK),
    # crypt(3) hashes
    (re.compile(r"\$(?:1|2[abxy]?|5|6|7|y|gy|sha1|argon2\w*)\$[^\s:'\"\\,]{8,}"), MASK),
    # user:password@ in addresses
    (re.compile(r"([a-z][a-z0-9+.-]*://[^\s/:@'\"]*:)(?!\*\*\*@)[^\s/@'\"]+@", re.IGNORECASE), rf"\1{MASK}@"),
)  # fmt: skip
_KEY_BEGINS: Final = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
_KEY_ENDS: Final = re.compile(r"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")


class Masker:
    """Masks a stream of lines; remembers whether it is inside a private key."""

    def __init__(self, *, also: Iterable[str] = ()) -> None:
        """`also` are secrets known by value."""
        self._values = sorted((value for value in also if len(value) >= 4), key=len, reverse=True)
        self._left = 0

    def line(self, text: str) -> str:
        """One line, with or without its end. Inside a key nothing of it is left."""
        return "".join(self._parts(text))

    def _parts(self, text: str) -> Iterator[str]:
        while text:
            if self._left:
                end = _KEY_ENDS.search(text)
                self._left = 0 if end else self._left - 1
                if end is None:
                    # The end of the line stays, so that the rest of the file keeps its lines.
                    yield "\n" if text.endswith("\n") else ""
                    return
                text = text[end.end() :]
            begin = _KEY_BEGINS.search(text)
            yield self._plain(text if begin is None else text[: begin.start()])
            if begin is None:
                return
            yield f"{MASK} private key {MASK}"
            text = text[begin.end() :]
            self._left = KEY_LINES

    def _plain(self, text: str) -> str:
        for value in self._values:
            text = text.replace(value, MASK)
        for pattern, instead in _RULES:
            text = pattern.sub(instead, text)
        return text


def mask(text: str, *, also: Iterable[str] = ()) -> str:
    masker = Masker(also=also)
    return "".join(masker.line(line) for line in text.splitlines(keepends=True))
