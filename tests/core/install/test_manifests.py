"""User manifests: names, folders, sizes, content."""

import pytest

from firstlight.core.errors import Invalid, Unprocessable
from firstlight.core.install.manifests import (
    LARGEST,
    Form,
    form_of,
    patch_target,
    require_documents,
    require_name,
    require_size,
    split_name,
)


@pytest.mark.parametrize(
    ("name", "form", "target"),
    [
        ("a.yaml", Form.YAML, None),
        ("a.yml", Form.YAML, None),
        ("a.json", Form.JSON, None),
        ("99_a-b.c.yaml", Form.YAML, None),
        ("a.yaml.patch", Form.PATCH, "a.yaml"),
        ("a.yml.patch_1", Form.PATCH, "a.yml"),
        ("a.yml.patch2", Form.PATCH, "a.yml"),
        ("patch.yaml", Form.YAML, None),
    ],
)
def test_names(name: str, form: Form, target: str | None) -> None:
    require_name(name)
    assert form_of(name) is form
    assert patch_target(name) == target


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("a b.yaml", Unprocessable),
        ("a\tb.yaml", Unprocessable),
        (".yaml", Unprocessable),
        ("..", Unprocessable),
        ("../a.yaml", Unprocessable),
        ("a/b.yaml", Unprocessable),
        ("a\\b.yaml", Unprocessable),
        ("a.txt", Invalid),
        ("a.yaml.bak", Invalid),
        ("a.json.patch", Invalid),
        ("a.yaml.patch-1", Invalid),
        ("yaml", Invalid),
        ("", Invalid),
        ("a.yaml\n", Unprocessable),
    ],
)
def test_refused_names(name: str, error: type[Exception]) -> None:
    with pytest.raises(error) as refusal:
        require_name(name)
    assert type(refusal.value) is error


def test_sizes() -> None:
    require_size("a.yaml", b"x" * LARGEST)
    with pytest.raises(Invalid, match=str(LARGEST + 1)):
        require_size("a.yaml", b"x" * (LARGEST + 1))
    for empty in (b"", b" \n"):
        with pytest.raises(Invalid, match="is empty"):
            require_size("a.yaml", empty)


A, B = ({"apiVersion": "v1", "kind": "A", "metadata": {"name": name}} for name in "ab")


@pytest.mark.parametrize("documents", [[A], [A, None, B]])
def test_documents(documents: list[object]) -> None:
    require_documents("a.yaml", documents)


@pytest.mark.parametrize(
    ("documents", "reason"),
    [
        ([], "no document"),
        ([None], "no document"),
        ([{}, "text"], "document 2"),
        ([[]], "document 1"),
        ([A, A], "twice"),
    ],
)
def test_refused_documents(documents: list[object], reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        require_documents("a.yaml", documents)


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "replace", "path": "/spec/a", "value": None},
        {"op": "add", "path": "/spec/list/-", "value": 1},
        {"op": "test", "path": "/a", "value": 1},
        {"op": "remove", "path": "/spec/name=x/y"},
        {"op": "move", "from": "/a", "path": "/b"},
        {"op": "copy", "from": "/a", "path": "/b"},
    ],
)
def test_patches(operation: object) -> None:
    require_documents("a.yaml.patch_1", [[operation]])


@pytest.mark.parametrize(
    ("documents", "reason"),
    [
        ([{"op": "remove", "path": "/a"}], "one list"),
        ([[]], "one list"),
        ([[{"op": "remove", "path": "/a"}], []], "one list"),
        ([["remove"]], "operation 1 has no known op"),
        ([[{"op": "merge", "path": "/a"}]], "known op"),
        ([[{"op": "remove", "path": "/a"}, {"op": "add", "path": "/a"}]], "operation 2 lacks value"),
        ([[{"op": "move", "path": "/a"}]], "lacks from"),
        ([[{"op": "remove", "path": "a"}]], "path that starts with a slash"),
    ],
)
def test_refused_patches(documents: list[object], reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        require_documents("a.yml.patch", documents)


def test_names_of_split_documents() -> None:
    assert split_name("my.list.yaml", digest="0123456789", position=3) == "my.list-0123456-03.yaml"
