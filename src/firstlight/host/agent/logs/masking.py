"""Taking secrets out of text before it leaves the machine: pull secrets, tokens, password hashes, private keys.

What is masked is decided by form, line by line, except for private keys, which end where they say. Masking twice is
masking once.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

MASK: Final = "***"
KEY_LINES: Final = 200
"""A private key that does not end within these lines is cut off; what follows is text again."""

# Every repetition is bounded: a line may be long, and logs are written by others.
_TELLING: Final = ("secret", "token", "passw", "passphrase", "key", "auth")
_WORD: Final = r"(?:pull[_-]?secret|token|passw(?:or)?d|passphrase|secret[_-]?key|api[_-]?key|auth)[\w.-]{0,40}"
_NAME: Final = rf"[\w.-]{{0,40}}{_WORD}"
_SCHEME: Final = r"(?:(?:bearer|basic)\s{1,8})?"
_GAP: Final = r"\s{0,8}"
_QUOTE: Final = r'\\{0,6}"'


class Rule(NamedTuple):
    hints: tuple[str, ...]
    """One of these, in small letters, is in every line the pattern could find; looking for it costs little."""
    pattern: re.Pattern[str]
    instead: str


def _rule(hints: tuple[str, ...], pattern: str, instead: str) -> Rule:
    return Rule(hints, re.compile(pattern, re.IGNORECASE), instead)


_RULES: Final = (
    # "auth": "…" in JSON, also inside a JSON string where quotes are escaped
    _rule(_TELLING, rf"({_QUOTE}{_NAME}{_QUOTE}{_GAP}:{_GAP}{_QUOTE})(?!\*\*\*)[^\"\\]+", rf"\1{MASK}"),
    # NAME_TOKEN=…, password: …, Authorization: Bearer …, --password …
    _rule(
        _TELLING,
        rf"({_WORD}{_GAP}[=:]{_GAP}['\"]?{_SCHEME})(?!\*\*\*|(?:bearer|basic)\s)[^\s'\",;}}{{)&\\]+",
        rf"\1{MASK}",
    ),
    _rule(_TELLING, rf"(-{_NAME}\s{{1,8}}['\"]?)(?!\*\*\*|-)[^\s'\"]+", rf"\1{MASK}"),
    # signed tokens
    _rule(("eyj",), r"\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{2,}(?:\.[A-Za-z0-9_-]*)?", MASK),
    # crypt(3) hashes
    _rule(("$",), r"\$(?:1|2[abxy]?|5|6|7|y|gy|sha1|argon2\w{0,4})\$[^\s:'\"\\,]{8,}", MASK),
    # user:password@ in addresses
    _rule(("://",), r"([a-z0-9+.-]{1,20}://[^\s/:@'\"]*:)(?!\*\*\*@)[^\s/@'\"]+@", rf"\1{MASK}@"),
    # What is left of headers; last, since a scheme may stand before a name.
    _rule(("bearer", "basic"), r"\b((?:bearer|basic)\s{1,8})(?!\*\*\*)[A-Za-z0-9+/_.=~-]{4,}", rf"\1{MASK}"),
)
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
        small = text.lower()
        for rule in _RULES:
            if any(hint in small for hint in rule.hints):
                text = rule.pattern.sub(rule.instead, text)
        return text


def mask(text: str, *, also: Iterable[str] = ()) -> str:
    masker = Masker(also=also)
    return "".join(masker.line(line) for line in text.splitlines(keepends=True))
