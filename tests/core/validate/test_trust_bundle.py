"""Trust bundles: PEM form, the hook for X.509."""

import base64

import pytest

from firstlight.core.errors import Invalid
from firstlight.core.validate.trust_bundle import LONGEST, certificates, check_certificates, check_trust_bundle


def pem(der: bytes, *, width: int = 64) -> str:
    text = base64.b64encode(der).decode()
    lines = [text[at : at + width] for at in range(0, len(text), width)]
    return "\n".join(["-----BEGIN CERTIFICATE-----", *lines, "-----END CERTIFICATE-----"])


def a_sequence(size: int) -> bytes:
    if size < 0x80:
        return bytes([0x30, size]) + b"x" * size
    count = (size.bit_length() + 7) // 8
    return bytes([0x30, 0x80 | count]) + size.to_bytes(count, "big") + b"x" * size


@pytest.mark.parametrize("size", [0, 1, 127, 128, 255, 256, 40_000])
def test_sizes(size: int) -> None:
    der = a_sequence(size)
    assert certificates(pem(der), what="It") == [der]


def test_several_and_trimmed() -> None:
    one, two = pem(a_sequence(10)), pem(a_sequence(300))
    text = f"\n {one}\r\n\n{two}\n"
    assert check_trust_bundle(text) == text.strip()
    assert check_certificates(text, what="It") == (a_sequence(10), a_sequence(300))
    assert check_trust_bundle(" \n") == ""


def test_hook_sees_every_certificate_and_may_refuse() -> None:
    text = pem(a_sequence(1)) + "\n" + pem(a_sequence(2))
    seen: list[bytes] = []
    check_trust_bundle(text, parse=seen.append)
    assert seen == [a_sequence(1), a_sequence(2)]

    def refuse_second(der: bytes) -> None:
        if der == a_sequence(2):
            raise ValueError("unsupported version")

    with pytest.raises(Invalid, match="certificate 2 cannot be parsed: unsupported version"):
        check_trust_bundle(text, parse=refuse_second)


GOOD = pem(a_sequence(5))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        pytest.param("hello", "text outside of the certificates", id="no-pem"),
        pytest.param(f"# my CA\n{GOOD}", "text outside", id="comment"),
        pytest.param(f"{GOOD}\nrest", "text outside", id="trailing-text"),
        pytest.param(GOOD.replace("CERTIFICATE", "PRIVATE KEY"), "text outside", id="a-key"),
        pytest.param(GOOD.rsplit("\n", 1)[0], "certificate 1 has no line -----END", id="no-end"),
        pytest.param(f"{GOOD}\n-----BEGIN CERTIFICATE-----", "certificate 2 has no line", id="second-cut-off"),
        pytest.param("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----", "1 is damaged", id="empty-block"),
        pytest.param(GOOD.replace("eA", "*A"), "1 is damaged", id="not-base64"),
        pytest.param(GOOD.replace("=", ""), "1 is damaged", id="padding-lost"),
        pytest.param(pem(b"\x31\x01x"), "1 is damaged", id="not-a-sequence"),
        pytest.param(pem(b"\x30"), "1 is damaged", id="no-length"),
        pytest.param(pem(b"\x30\x02x"), "1 is damaged", id="one-byte-short"),
        pytest.param(pem(b"\x30\x02xxx"), "1 is damaged", id="one-byte-more"),
        pytest.param(pem(b"\x30\x82\x01"), "1 is damaged", id="length-cut-off"),
        pytest.param(pem(b"\x30\x80xx"), "1 is damaged", id="indefinite-length"),
        pytest.param(pem(b"\x30\x85\x00\x00\x00\x00\x01x"), "1 is damaged", id="length-of-length"),
        pytest.param("x" * (LONGEST + 1), "has 65536 characters, and at most 65535", id="too-long"),
    ],
)
def test_refused(text: str, sentence: str) -> None:
    with pytest.raises(Invalid, match=f"The trust bundle .*{sentence}"):
        check_trust_bundle(text)


def test_nothing_inside() -> None:
    with pytest.raises(Invalid, match="The CA holds no certificate"):
        check_certificates("\n", what="The CA")


def test_long_hostile_text_ends() -> None:
    for text in ("-----BEGIN CERTIFICATE-----\n" * 50_000, "=" * 100_000, GOOD.replace("eA", "A" * 1_000_000)):
        with pytest.raises(Invalid):
            check_certificates(text, what="It")
