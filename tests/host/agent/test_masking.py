"""Secrets never leave, whatever stands around them; everything else stays as it is."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.host.agent.logs.masking import KEY_LINES, MASK, Masker, mask

SECRET = "S3cretValue9876xyz"
WORDS = st.text(string.ascii_lowercase + " .,()", max_size=40)
TELLING = ("token", "passw", "secret", "auth", "passphrase", "key", "bearer", "basic", "eyj")
FORMS = [
    '{"auths":{"cloud.openshift.com":{"auth":"%s","email":"a@b"}}}',
    '{\\"auths\\":{\\"quay.io\\":{\\"auth\\":\\"%s\\"}}}',
    "PULL_SECRET_TOKEN=%s",
    "Environment=PULL_SECRET_TOKEN=%s",
    "X-Secret-Key: %s",
    "authorization: Bearer %s",
    "Authorization: Basic %s",
    "kubeadmin password: %s",
    '"kubeadmin_password": "%s"',
    "logs_sender -pull-secret-token %s -url http://h",
    "--password=%s",
    "https://user:%s@proxy.example.com:3128/",
    "core:$6$rounds=4096$salt$%s:18000:0:99999",
    "$y$j9T$%s",
    "token eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxIn0.%s",
    "-----BEGIN RSA PRIVATE KEY-----%s-----END RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\n%s\n-----END PRIVATE KEY-----\nafter",
    "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n%s",
]


@pytest.mark.parametrize("form", FORMS)
@given(before=WORDS, after=WORDS)
def test_a_secret_is_gone_whatever_stands_around_it(form: str, before: str, after: str) -> None:
    assert SECRET not in mask(f"{before} {form % SECRET} {after}")


@pytest.mark.parametrize("form", FORMS)
def test_masking_twice_is_masking_once(form: str) -> None:
    once = mask(form % SECRET)
    assert mask(once) == once
    assert MASK in once


@given(st.lists(st.sampled_from([form % SECRET for form in FORMS] + ["plain words"]), max_size=8))
def test_a_stream_of_lines_is_masked_like_the_whole(parts: list[str]) -> None:
    text = "\n".join(parts) + "\n"
    masker = Masker()
    assert "".join(masker.line(line) for line in text.splitlines(keepends=True)) == mask(text)
    assert SECRET not in mask(text)


@given(st.text(string.ascii_letters + string.digits + " \n.,;()[]", max_size=200))
def test_plain_text_stays_as_it_is(text: str) -> None:
    if not any(
        word in text.lower()
        for word in ("token", "passw", "secret", "auth", "passphrase", "key", "bearer", "basic", "eyj")
    ):
        assert mask(text) == text


@pytest.mark.parametrize(
    "line",
    [
        "2026-01-01T00:00:00Z info A step begins. step=inventory id=inventory-3f1c9a02",
        "wwn-0x5000c500a1b2c3d4 -> ../../sda",
        "quay.io/openshift/release@sha256:" + "ab" * 32,
        "d626ff1d-7374-6dea-7559-e2240d8124fa",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
    ],
)
def test_what_people_look_for_in_logs_is_left_alone(line: str) -> None:
    assert mask(line) == line


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "piece",
    [
        "x",
        "-",
        " ",
        "\\",
        '"',
        ":",
        "://",
        "a:",
        "token",
        "token ",
        "auth=",
        "$6$",
        "eyJ",
        "a.",
        "Bearer ",
        "--x",
        "@",
        '"auth"',
    ],
)
def test_long_lines_cost_no_more_than_their_length(piece: str) -> None:
    line = piece * (200_000 // len(piece))
    assert mask(line)
    assert SECRET not in mask(f"{line} PULL_SECRET_TOKEN={SECRET}")


def test_secrets_known_by_value_go_wherever_they_stand() -> None:
    assert mask("curl -H a:abcd1234 x", also=("abcd1234",)) == f"curl -H a:{MASK} x"
    assert mask("abc", also=("abc", "")) == "abc", "what is so short is no secret but everybody's letters"


def test_a_key_that_never_ends_does_not_swallow_the_rest() -> None:
    text = "-----BEGIN PRIVATE KEY-----\n" + "AAAA\n" * (KEY_LINES + 5) + "the end\n"
    shown = mask(text)
    assert shown.endswith("the end\n")
    assert shown.count("AAAA") == 6
