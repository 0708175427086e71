"""JSON patch on manifests: the six operations, list elements by what they hold, and what does not fit."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.errors import Invalid
from firstlight.core.install.patches import patched

BASE = {"a": {"b": 1}, "list": [{"name": "x", "v": 1}, {"name": "y", "v": 2}, {"name": "x", "v": 3}], "s/l": {"~": 0}}


@pytest.mark.parametrize(
    ("operations", "place", "value"),
    [
        ([{"op": "replace", "path": "/a/b", "value": 2}], ("a",), {"b": 2}),
        ([{"op": "add", "path": "/a/c", "value": [1]}], ("a",), {"b": 1, "c": [1]}),
        ([{"op": "add", "path": "/a/b", "value": 5}], ("a",), {"b": 5}),
        ([{"op": "remove", "path": "/a/b"}], ("a",), {}),
        ([{"op": "add", "path": "/list/0", "value": 0}], ("list", 0), 0),
        ([{"op": "add", "path": "/list/-", "value": 0}], ("list", 3), 0),
        ([{"op": "add", "path": "/list/3", "value": 0}], ("list", 3), 0),
        ([{"op": "remove", "path": "/list/1"}], ("list", 1), {"name": "x", "v": 3}),
        ([{"op": "replace", "path": "/list/name=y/v", "value": 9}], ("list", 1, "v"), 9),
        ([{"op": "replace", "path": "/list/name=x/v", "value": 9}], ("list", 2, "v"), 9),
        ([{"op": "add", "path": "/list/v=2/w", "value": 9}], ("list", 1), {"name": "y", "v": 2, "w": 9}),
        ([{"op": "remove", "path": "/list/name=x"}], ("list",), [{"name": "y", "v": 2}]),
        ([{"op": "move", "from": "/a/b", "path": "/c"}], ("c",), 1),
        ([{"op": "move", "from": "/a/b", "path": "/c"}], ("a",), {}),
        ([{"op": "copy", "from": "/a", "path": "/c"}], ("c",), {"b": 1}),
        ([{"op": "copy", "from": "/list/name=y", "path": "/c"}], ("c", "v"), 2),
        ([{"op": "replace", "path": "/s~1l/~0", "value": 1}], ("s/l", "~"), 1),
        ([{"op": "test", "path": "/a/b", "value": 1}, {"op": "remove", "path": "/a"}], ("s/l",), {"~": 0}),
        ([{"op": "copy", "from": "/a", "path": "/c"}, {"op": "add", "path": "/c/x", "value": 1}], ("a",), {"b": 1}),
    ],
)
def test_applied(operations: list[object], place: tuple[Any, ...], value: object) -> None:
    found: Any = patched(BASE, operations, name="p")
    for part in place:
        found = found[part]
    assert found == value


def test_the_whole_document() -> None:
    assert patched(BASE, [{"op": "replace", "path": "", "value": {"n": 1}}], name="p") == {"n": 1}


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "replace", "path": "/nowhere", "value": 1},
        {"op": "remove", "path": "/a/c"},
        {"op": "remove", "path": ""},
        {"op": "add", "path": "/nowhere/c", "value": 1},
        {"op": "add", "path": "/list/4", "value": 1},
        {"op": "add", "path": "/list/x", "value": 1},
        {"op": "add", "path": "/list/-1", "value": 1},
        {"op": "add", "path": "/a/b/c", "value": 1},
        {"op": "replace", "path": "/list/name=z/v", "value": 1},
        {"op": "replace", "path": "/list/-", "value": 1},
        {"op": "test", "path": "/a/b", "value": 2},
        {"op": "test", "path": "/list/name=x/v", "value": 1},
        {"op": "move", "from": "/nowhere", "path": "/c"},
        {"op": "move", "from": "/a", "path": "/a/b"},
        {"op": "copy", "from": "/nowhere", "path": "/c"},
        {"op": "add", "path": "a", "value": 1},
    ],
)
def test_refused(operation: dict[str, object]) -> None:
    with pytest.raises(Invalid, match="Patch p: operation 2 "):
        patched(BASE, [{"op": "test", "path": "/a/b", "value": 1}, operation], name="p")


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "op": st.sampled_from(["add", "replace", "remove", "test", "move", "copy"]),
                "path": st.sampled_from(["", "/a", "/a/b", "/list", "/list/0", "/list/-", "/list/name=x", "x", "//"]),
                "from": st.sampled_from(["", "/a", "/list", "/list/name=x", "/list/9", "y"]),
                "value": st.sampled_from([0, {}, [], {"b": [1]}]),
            }
        ),
        max_size=5,
    )
)
def test_the_original_is_never_touched_and_nothing_but_invalid_is_raised(operations: list[object]) -> None:
    before = json.dumps(BASE)
    with contextlib.suppress(Invalid):
        patched(BASE, operations, name="p")
    assert json.dumps(BASE) == before
