"""Version numbers as OpenShift writes them: `4.18`, `4.18.3`, `4.19.0-rc.1`, each with an optional `-multi` ending."""

import re
from dataclasses import dataclass
from functools import lru_cache, total_ordering
from typing import Final

from firstlight.core.errors import Invalid

_FORM: Final = re.compile(
    r"(?P<major>[0-9]{1,6})\.(?P<minor>[0-9]{1,6})(?:\.(?P<patch>[0-9]{1,6}))?(?:-(?P<rest>[0-9A-Za-z.-]{1,200}))?"
)
_MULTI: Final = "multi"

_Identifier = tuple[int, int, str]
_SortKey = tuple[int, int, int, bool, tuple[_Identifier, ...], bool, str]


@total_ordering
@dataclass(frozen=True, slots=True, kw_only=True, eq=True)
class Version:
    """One version. `4.18` sorts before every `4.18.z`, a pre-release before its release, `-multi` after its twin."""

    major: int
    minor: int
    patch: int | None = None
    prerelease: str = ""
    multi: bool = False

    def __lt__(self, other: "Version") -> bool:
        return self._sort_key() < other._sort_key()

    def __str__(self) -> str:
        patch = "" if self.patch is None else f".{self.patch}"
        prerelease = f"-{self.prerelease}" if self.prerelease else ""
        return f"{self.major}.{self.minor}{patch}{prerelease}{'-multi' if self.multi else ''}"

    @property
    def is_prerelease(self) -> bool:
        return bool(self.prerelease)

    @property
    def is_minor(self) -> bool:
        """True for `x.y`: a whole line of releases rather than one of them."""
        return self.patch is None

    def to_minor(self) -> "Version":
        """`x.y`, without patch, pre-release and `-multi`."""
        return Version(major=self.major, minor=self.minor)

    def single(self) -> "Version":
        """The same version without `-multi`."""
        return Version(major=self.major, minor=self.minor, patch=self.patch, prerelease=self.prerelease)

    def _sort_key(self) -> _SortKey:
        identifiers = tuple(_identifier(part) for part in self.prerelease.split(".")) if self.prerelease else ()
        patch = -1 if self.patch is None else self.patch
        # The text at the end keeps `-rc.1` and `-rc.01`, which weigh the same, apart.
        return (self.major, self.minor, patch, not self.prerelease, identifiers, self.multi, self.prerelease)


def _identifier(part: str) -> _Identifier:
    """Numbers sort as numbers and before words."""
    return (0, int(part), "") if part.isdigit() else (1, 0, part)


@lru_cache(maxsize=4096)
def parse(text: str) -> Version:
    """The version written in `text`; Invalid when it has another form."""
    found = _FORM.fullmatch(text)
    if found is None:
        raise _malformed(text)
    rest, patch = found["rest"] or "", found["patch"]
    multi = rest == _MULTI or rest.endswith(f"-{_MULTI}")
    prerelease = rest[: -len(_MULTI) - 1] if multi else rest
    has_empty_part = rest not in ("", _MULTI) and not all(prerelease.split("."))
    if has_empty_part or (prerelease and patch is None):
        raise _malformed(text)
    return Version(
        major=int(found["major"]),
        minor=int(found["minor"]),
        patch=None if patch is None else int(patch),
        prerelease=prerelease,
        multi=multi,
    )


def _malformed(text: str) -> Invalid:
    shown = text if len(text) <= 80 else text[:77] + "..."
    return Invalid(
        f"'{shown}' is not an OpenShift version. Write it as 4.18 or 4.18.3, or 4.19.0-rc.1 for a pre-release."
    )


def at_least(version: Version | str, bound: Version | str) -> bool:
    """Is `version` of the line `bound` or newer?

    As soon as one side names only a line (`4.12`), lines are compared: every 4.12 pre-release has what 4.12 has.
    """
    have = parse(version) if isinstance(version, str) else version
    need = parse(bound) if isinstance(bound, str) else bound
    if have.is_minor or need.is_minor:
        return (have.major, have.minor) >= (need.major, need.minor)
    return have.single() >= need.single()
