"""SSH keys: real keys pass, anything that only looks like one does not."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.errors import Invalid
from firstlight.core.validate.ssh_keys import check_ssh_keys

# Made for this test with ssh-keygen; the private halves were thrown away.
ED25519 = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIF+kaYLyhqMo/TQtFXONEoPmP+R0uB0SEsVufQyeRSP"
NISTP256 = (
    "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBKKeEkWQ2xR1O8yVvZdZAaxBMaccVdd3HCYl3sSL"
    "o0Gang6+VPUMLwiXgqchluM0nFLIu27cZ7lSLUAR/7NHpog="
)
NISTP384 = (
    "ecdsa-sha2-nistp384 AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBNkOUB4r71+mzF+dxonYety67wfRyLS4+6dZ97CH"
    "II7AE7/7WmnINn73pZfitc7De2xqiYsFJbQylZLGpYpgh9ajM8apNE6brPOcrdKgwzbCHsWWrjqRlNPPEZR15DxLbQ=="
)


def a_key(kind: str, *fields: bytes, name: str = "", extra: bytes = b"") -> str:
    parts = [(name or kind).encode(), *fields]
    blob = b"".join(len(part).to_bytes(4, "big") + part for part in parts) + extra
    return f"{kind} {base64.b64encode(blob).decode()}"


RSA = a_key("ssh-rsa", b"\x01\x00\x01", b"\x00" + b"\xc7" * 256)
DSA = a_key("ssh-dss", b"p" * 128, b"q" * 20, b"g" * 128, b"y" * 128)
NISTP521 = a_key("ecdsa-sha2-nistp521", b"nistp521", b"\x04" + b"x" * 132)


@pytest.mark.parametrize("key", [ED25519, NISTP256, NISTP384, NISTP521, RSA, DSA], ids=lambda key: key.split()[0])
def test_keys(key: str) -> None:
    assert check_ssh_keys(key) == key
    assert check_ssh_keys(f"{key} someone@somewhere, with a comment") == f"{key} someone@somewhere, with a comment"
    assert check_ssh_keys(f"  {key}\r\n") == key


def test_prefixes_are_those_of_the_published_pattern() -> None:
    assert RSA.startswith("ssh-rsa AAAAB3NzaC1yc2")
    assert DSA.startswith("ssh-dss AAAAB3NzaC1kc3")
    assert NISTP521.startswith("ecdsa-sha2-nistp521 AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1Mj")


def test_several() -> None:
    assert check_ssh_keys(f"\n{ED25519} a \n  {RSA}\r\n\n") == f"{ED25519} a\n{RSA}"
    assert check_ssh_keys("") == check_ssh_keys(" \n\t") == ""


def test_padding_may_be_missing() -> None:
    assert check_ssh_keys(NISTP384.rstrip("=")) == NISTP384.rstrip("=")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        pytest.param(f"{ED25519}\n\n{RSA}", "line 2 is empty", id="blank-line"),
        pytest.param(f"{ED25519}\nnonsense", "line 2 does not begin", id="second-line-bad"),
        pytest.param("ssh-rsa", "does not hold a whole ssh-rsa key", id="type-only"),
        pytest.param(ED25519.split()[1], "does not begin", id="blob-only"),
        pytest.param("sk-ssh-ed25519@openssh.com AAAA", "does not begin", id="security-key"),
        pytest.param(f'command="x" {ED25519}', "does not begin", id="options"),
        pytest.param(ED25519.replace(" ", "  "), "does not hold", id="two-spaces"),
        pytest.param(ED25519.replace(" ", "\t"), "does not begin", id="tab"),
        pytest.param(ED25519[:-4], "does not hold", id="cut-off"),
        pytest.param(ED25519 + "AAAA", "does not hold", id="too-long"),
        pytest.param(ED25519 + "!", "does not hold", id="bad-character"),
        pytest.param(ED25519 + "====", "does not hold", id="too-much-padding"),
        pytest.param(f"{ED25519} a\x1b[31mb", "does not hold", id="control-character"),
        pytest.param(a_key("ssh-rsa", b"\x03", b"n", name="ssh-dss"), "does not hold", id="other-type-inside"),
        pytest.param(a_key("ssh-rsa", b"\x03"), "does not hold", id="field-missing"),
        pytest.param(a_key("ssh-rsa", b"\x03", b""), "does not hold", id="field-empty"),
        pytest.param(a_key("ssh-rsa", b"\x03", b"n", b"x"), "does not hold", id="field-too-many"),
        pytest.param(a_key("ssh-rsa", b"\x03", b"n", extra=b"\x00"), "does not hold", id="trailing-byte"),
        pytest.param(a_key("ssh-ed25519", b"k" * 31), "does not hold", id="ed25519-31-bytes"),
        pytest.param(a_key("ssh-ed25519", b"k" * 33), "does not hold", id="ed25519-33-bytes"),
        pytest.param(
            a_key("ecdsa-sha2-nistp256", b"nistp384", b"\x04" + b"x" * 64), "does not hold", id="other-curve-inside"
        ),
        pytest.param(a_key("ecdsa-sha2-nistp256", b"nistp256", b"\x02" + b"x" * 32), "does not hold", id="point-short"),
        pytest.param("ssh-rsa " + "A" * 100_001, "does not hold", id="long-bad-base64"),
        pytest.param("ssh-rsa " + "A" * 100_000, "does not hold", id="long-zeros"),
        pytest.param("ssh-rsa " + "A" * 100_000 + "!", "does not hold", id="long-then-bad"),
        pytest.param("ssh-rsa " + "=" * 100_000, "does not hold", id="long-padding"),
        pytest.param("\n" * 50_000 + "x" + "\n" * 50_000, "line 1 does not begin", id="long-lines"),
    ],
)
def test_refused(text: str, sentence: str) -> None:
    with pytest.raises(Invalid, match=f"SSH key is not valid: .*{sentence}") as caught:
        check_ssh_keys(text)
    assert len(str(caught.value)) < 300


@given(st.text(alphabet="AB/+= \nssh-rsa", max_size=200))
def test_anything_is_answered(text: str) -> None:
    try:
        assert check_ssh_keys(text) == ""
    except Invalid:
        assert text.strip()
