"""Tokens in compact form: ours can be read by others, others' by us, and nothing else passes."""

import base64
import hashlib
import hmac
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, SECP384R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.errors import Invalid
from firstlight.server.auth.compact import (
    LONGEST,
    BadToken,
    read_es256,
    read_hs256,
    sign_es256,
    sign_hs256,
    unchecked,
)
from firstlight.server.auth.keys import key_pair, new_private_key

KEY = generate_private_key(SECP256R1())
OTHER = generate_private_key(SECP256R1())
SECRET = b"k" * 32
CLAIMS = {"exp": 1_900_000_000, "sub": "someone"}


def encoded(document: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(document).encode()).rstrip(b"=").decode()


def test_the_same_claims_give_the_same_token() -> None:
    assert sign_es256(CLAIMS, KEY) == sign_es256(CLAIMS, KEY)


def test_openssl_agrees_with_the_signature(tmp_path: Path) -> None:
    openssl = shutil.which("openssl")
    assert openssl is not None
    text, _, signature = sign_es256(CLAIMS, KEY).rpartition(".")
    raw = base64.urlsafe_b64decode(signature + "==")
    assert len(raw) == 64
    numbers = int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big")
    (tmp_path / "signature").write_bytes(encode_dss_signature(*numbers))
    (tmp_path / "text").write_text(text)
    public = KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (tmp_path / "key").write_bytes(public)
    command = [openssl, "dgst", "-sha256", "-verify", "key", "-signature", "signature", "text"]
    assert subprocess.run(command, cwd=tmp_path, check=False, capture_output=True).returncode == 0


def test_image_tokens_are_what_clients_look_for() -> None:
    """aicli reads the claims by a pattern that wants this order and no spaces."""
    _, claims, signature = sign_hs256(CLAIMS, SECRET).split(".")
    assert base64.urlsafe_b64decode(claims + "==") == b'{"exp":1900000000,"sub":"someone"}'
    text = sign_hs256(CLAIMS, SECRET).rpartition(".")[0]
    expected = hmac.new(SECRET, text.encode(), hashlib.sha256).digest()
    assert base64.urlsafe_b64decode(signature + "=") == expected


def test_what_was_signed_is_read_back() -> None:
    assert read_es256(sign_es256(CLAIMS, KEY), KEY.public_key()).sub == "someone"
    assert read_hs256(sign_hs256(CLAIMS, SECRET), SECRET).exp == 1_900_000_000
    assert unchecked(sign_hs256({"sub": "x", "more": [1]}, SECRET)).sub == "x"


GOOD = sign_es256(CLAIMS, KEY)
HEAD, BODY, SIGNATURE = GOOD.split(".")
SPKI = KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


@pytest.mark.parametrize(
    "token",
    [
        pytest.param("", id="nothing"),
        pytest.param("a.b", id="two-parts"),
        pytest.param(f"{GOOD}.x", id="four-parts"),
        pytest.param(f"{HEAD}.{BODY}.", id="no-signature"),
        pytest.param(f"{encoded({'alg': 'none'})}.{BODY}.", id="algorithm-none"),
        pytest.param(f"{encoded({'alg': 'none'})}.{BODY}.{SIGNATURE}", id="algorithm-none-signed"),
        pytest.param(f"{encoded({'alg': 'ES256', 'crit': ['b64']})}.{BODY}.{SIGNATURE}", id="critical-extension"),
        pytest.param(f"{HEAD}.{encoded({'sub': 'admin'})}.{SIGNATURE}", id="other-claims"),
        pytest.param(sign_es256(CLAIMS, OTHER), id="other-key"),
        pytest.param(sign_hs256(CLAIMS, SPKI), id="public-key-as-secret"),
        pytest.param(f"{HEAD}.{BODY}.{base64.urlsafe_b64encode(bytes(64)).rstrip(b'=').decode()}", id="zeros"),
        pytest.param(f"{GOOD}=", id="padded"),
        pytest.param(GOOD + "\n", id="line-end"),
        pytest.param(f"{HEAD}.{BODY}.ünlesbar", id="not-ascii"),
        pytest.param(f"{HEAD}.{'A' * LONGEST}.{SIGNATURE}", id="too-long"),
    ],
)
def test_nothing_else_passes(token: str) -> None:
    with pytest.raises(BadToken):
        read_es256(token, KEY.public_key())
    with pytest.raises(BadToken):
        read_hs256(token, SECRET)


@given(place=st.integers(0, len(GOOD) - 1), letter=st.sampled_from("ABCxyz019-_.="))
def test_no_letter_can_be_changed(place: int, letter: str) -> None:
    changed = GOOD[:place] + letter + GOOD[place + 1 :]
    if changed != GOOD:
        with pytest.raises(BadToken):
            read_es256(changed, KEY.public_key())


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    for read in (lambda: read_es256(text, KEY.public_key()), lambda: unchecked(text)):
        try:
            read()
        except BadToken:
            continue


# --- keys


def private_pem(curve: SECP256R1 | SECP384R1) -> str:
    key = generate_private_key(curve)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def test_keys_come_as_pem_or_base64_of_it() -> None:
    private = new_private_key()
    pair = key_pair(private=private)
    public = pair.public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    for given_public in (public, base64.b64encode(public.encode()).decode()):
        assert key_pair(public=given_public).private is None
        both = key_pair(public=given_public, private=base64.b64encode(private.encode()).decode())
        assert both.private is not None
        assert read_es256(sign_es256(CLAIMS, both.private), pair.public).sub == "someone"


@pytest.mark.parametrize(
    "given_keys",
    [
        {},
        {"private": "hush-private"},
        {"public": "hush-public"},
        {"private": private_pem(SECP384R1())},
        {"public": SPKI.decode(), "private": private_pem(SECP256R1())},
    ],
    ids=["none", "no-private-key", "no-public-key", "other-curve", "no-pair"],
)
def test_unusable_keys_are_refused_by_name_and_not_repeated(given_keys: dict[str, str]) -> None:
    with pytest.raises(Invalid, match="EC_P") as refusal:
        key_pair(**given_keys)
    assert "hush" not in str(refusal.value)
