"""Pull secrets: form, coverage of registries, what is never repeated."""

import base64
import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from firstlight.core.errors import Invalid
from firstlight.core.validate.pull_secret import (
    check_pull_secret,
    parse_pull_secret,
    registry_of,
)

AUTH = base64.b64encode(b"user:password").decode()


def a_secret(*registries: str) -> str:
    return json.dumps({"auths": {registry: {"auth": AUTH, "email": "a@b.c"} for registry in registries}})


def test_good() -> None:
    assert parse_pull_secret(a_secret("quay.io")).auths == {"quay.io": AUTH}


@pytest.mark.parametrize("auth", [None, ""])
def test_an_entry_without_auth_counts(auth: str | None) -> None:
    secret = check_pull_secret(json.dumps({"auths": {"quay.io": {"auth": auth}}}), images=["quay.io/a/b:c"])
    assert secret.auths == {"quay.io": ""}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "pull secret must be a well-formed JSON"),
        ("{", "pull secret must be a well-formed JSON"),
        ("[]", "pull secret must be a well-formed JSON"),
        ('"{}"', "pull secret must be a well-formed JSON"),
        ('{"auths":{}} x', "pull secret must be a well-formed JSON"),
        ("[" * 100_000, "pull secret must be a well-formed JSON"),
        ('{"a":' * 50_000, "pull secret must be a well-formed JSON"),
        ("\ud800", "pull secret must be a well-formed JSON"),
        ("{}", "pull secret must contain 'auths' JSON-object field"),
        ('{"auths": null}', "pull secret must contain 'auths' JSON-object field"),
        ('{"auths": {}}', "pull secret must contain 'auths' JSON-object field"),
        ('{"auths": []}', "pull secret must contain 'auths' JSON-object field"),
        ('{"auths": "quay.io"}', "pull secret must contain 'auths' JSON-object field"),
        ('{"auths": {"quay.io": null}}', "invalid pull secret: the entry of 'quay.io' must be a JSON object"),
        ('{"auths": {"quay.io": {"auth": 1}}}', "invalid pull secret: 'auth' of 'quay.io' must be a string"),
        ('{"auths": {"quay.io": {"auth": "$$$"}}}', "invalid pull secret: 'auth' of 'quay.io' is not base64"),
        ('{"auths": {"quay.io": {"auth": "YWI"}}}', "invalid pull secret: 'auth' of 'quay.io' is not base64"),
        ('{"auths": {"quay.io": {"auth": "é"}}}', "invalid pull secret: 'auth' of 'quay.io' is not base64"),
        ('{"auths": {"quay.io": {"auth": "YWJj"}}}', "invalid pull secret: 'auth' of 'quay.io' .* user:password"),
    ],
)
def test_malformed(text: str, sentence: str) -> None:
    with pytest.raises(Invalid, match=sentence) as caught:
        check_pull_secret(text)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("image", "registry"),
    [
        ("quay.io/org/repo:tag", "quay.io"),
        ("registry.example.com:5000/a/b@sha256:abc", "registry.example.com:5000"),
        ("localhost/a", "localhost"),
        ("localhost:5000/a", "localhost:5000"),
        ("ubuntu", "docker.io"),
        ("ubuntu:22.04", "docker.io"),
        ("library/ubuntu:22.04", "docker.io"),
        ("docker.io/library/ubuntu", "docker.io"),
    ],
)
def test_registry_of(image: str, registry: str) -> None:
    assert registry_of(image) == registry


@pytest.mark.parametrize(
    ("image", "key", "covered"),
    [
        ("quay.io/org/repo:tag", "quay.io", True),
        ("quay.io/org/repo:tag", "quay.io/org", True),
        ("quay.io/org/repo:tag", "quay.io/org/repo", True),
        ("quay.io/org/repo@sha256:abc", "quay.io/org/repo", True),
        ("quay.io/org/repo:tag@sha256:abc", "quay.io/org/repo", True),
        ("quay.io/org/repo:tag", "quay.io/org/rep", False),
        ("quay.io/org/repo:tag", "quay.io/other", False),
        ("quay.io/org/repo:tag", "https://quay.io", False),
        ("registry.example.com:5000/a:1", "registry.example.com:5000", True),
        ("registry.example.com:5000/a:1", "registry.example.com", False),
        ("registry.example.com:5000/a:1", "registry.example.com:5000/a", True),
        ("ubuntu:22.04", "docker.io", True),
        ("ubuntu:22.04", "https://index.docker.io/v1/", True),
        ("org/repo:1", "docker.io/org", True),
        ("ubuntu:22.04", "quay.io", False),
    ],
)
def test_coverage(image: str, key: str, covered: bool) -> None:
    text = a_secret(key)
    if covered:
        check_pull_secret(text, images=[image])
        return
    with pytest.raises(Invalid, match=f'pull secret must contain auth for "{registry_of(image)}"'):
        check_pull_secret(text, images=[image])


@pytest.mark.parametrize("exempt", ["registry.example.com", "registry.example.com/org"])
def test_exempt(exempt: str) -> None:
    image = "registry.example.com/org/repo:1"
    check_pull_secret(a_secret("quay.io"), images=[image], exempt=[exempt])
    with pytest.raises(Invalid, match=r'auth for "registry\.example\.com"'):
        check_pull_secret(a_secret("quay.io"), images=[image], exempt=["registry.example.com/other"])


def test_every_image_is_looked_at() -> None:
    with pytest.raises(Invalid, match=r'auth for "b\.io"'):
        check_pull_secret(a_secret("a.io", "c.io"), images=["a.io/x", "b.io/x", "c.io/x"])


@given(st.text(min_size=8, max_size=40, alphabet="abcdefghijklmnopqrstuvwxyz$"))
def test_a_refusal_never_repeats_the_auth(auth: str) -> None:
    with pytest.raises(Invalid) as caught:
        check_pull_secret(json.dumps({"auths": {"Q": {"auth": auth}}}), images=["A.IO/B"])
    assume(auth not in "is not base64, does not have the form user:password")
    assert auth not in str(caught.value)
