"""Finding the operation behind a path: a trie of segments, so the cost does not grow with the number of routes.

Empty segments are skipped, which serves doubled and trailing slashes in place instead of redirecting.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from uuid import UUID

import msgspec

from firstlight.server.http.errors import BadRequest, NoSuchPath, WrongMethod

E = TypeVar("E")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A variable segment of a path."""

    name: str
    is_uuid: bool


@dataclass(frozen=True, slots=True)
class Route(Generic[E]):
    """What a path leads to, and how its variable segments are called."""

    endpoint: E
    parameters: tuple[Parameter, ...]

    def arguments(self, values: list[str]) -> dict[str, UUID | str]:
        """The variable segments by name; a malformed UUID is a bad request."""
        arguments: dict[str, UUID | str] = {}
        for parameter, value in zip(self.parameters, values, strict=True):
            arguments[parameter.name] = _uuid(parameter.name, value) if parameter.is_uuid else value
        return arguments


@dataclass(slots=True)
class _Node(Generic[E]):
    fixed: "dict[str, _Node[E]]" = field(default_factory=lambda: {})
    variable: "_Node[E] | None" = None
    routes: dict[str, Route[E]] = field(default_factory=lambda: {})


class Router(Generic[E]):
    """Filled once at start, then only asked."""

    def __init__(self, routes: Iterable[tuple[str, str, E]] = ()) -> None:
        self._root: _Node[E] = _Node()
        for method, path, endpoint in routes:
            self.add(method, path, endpoint)

    def add(self, method: str, path: str, endpoint: E) -> None:
        """Serve `endpoint` at a path whose variable segments are written `{name}` or `{name:uuid}`."""
        node = self._root
        parameters: list[Parameter] = []
        for segment in _segments(path):
            if segment.startswith("{"):
                name, _, kind = segment.strip("{}").partition(":")
                parameters.append(Parameter(name, kind == "uuid"))
                node.variable = node = node.variable or _Node()
            else:
                node = node.fixed.setdefault(segment, _Node())
        if method in node.routes:
            raise ValueError(f"{method} {path} is declared twice.")
        node.routes[method] = Route(endpoint, tuple(parameters))

    def find(self, method: str, path: str) -> tuple[Route[E], list[str]]:
        """The route and its variable segments, still as text. Raises NoSuchPath or WrongMethod."""
        node = self._root
        values: list[str] = []
        for segment in path.split("/"):
            if segment:
                following = node.fixed.get(segment)
                if following is None:
                    following = node.variable
                    if following is None:
                        raise NoSuchPath(path)
                    values.append(segment)
                node = following
        route = node.routes.get(method)
        if route is not None:
            return route, values
        if not node.routes:
            raise NoSuchPath(path)
        if method == "HEAD" and "GET" in node.routes:
            return node.routes["GET"], values
        raise WrongMethod(method, allowed=sorted(node.routes))


def _segments(path: str) -> list[str]:
    return [segment for segment in path.split("/") if segment]


def _uuid(name: str, value: str) -> UUID:
    try:
        return msgspec.convert(value, UUID)
    except msgspec.ValidationError:
        raise BadRequest(f'{name} in path must be of type uuid: "{value}"') from None
