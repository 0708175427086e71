"""Proxies, URLs, ignition endpoints and Tang servers."""

import base64
import json

import pytest

from firstlight.core.errors import Invalid
from firstlight.core.model.cluster import TangServer
from firstlight.core.validate.disk_encryption import ENABLE_ON, check_disk_encryption, parse_tang_servers
from firstlight.core.validate.ignition_endpoint import check_ignition_endpoint
from firstlight.core.validate.proxy import check_http_proxy, check_https_proxy, check_no_proxy
from firstlight.core.validate.quoting import shown
from firstlight.core.validate.urls import check_url

PEM = "-----BEGIN CERTIFICATE-----\nMAMCAQE=\n-----END CERTIFICATE-----\n"

GOOD_PLACES = [
    "proxy.example.com",
    "proxy.example.com:3128",
    "proxy",
    "10.0.0.1:80",
    "[2001:db8::1]:3128",
    "user:pa%40ss@proxy.example.com:3128/",
]
BAD_URLS = [
    "http://",
    "http:///path",
    "proxy.example.com:3128",
    "http//proxy",
    "http://proxy:port",
    "http://proxy:65536",
    "http://pro xy",
    "http://proxy\n",
    "http://pro\txy",
    "http://[::1",
    "http://a^b",
    "http://é.com",
    "http://" + "a" * 100_000,
]


@pytest.mark.parametrize("place", GOOD_PLACES)
def test_good_urls(place: str) -> None:
    assert check_http_proxy(f"http://{place}") == f"http://{place}"
    assert check_https_proxy(f"http://{place}") == f"http://{place}"
    assert check_https_proxy(f"https://{place}") == f"https://{place}"


@pytest.mark.parametrize("url", BAD_URLS, ids=range(len(BAD_URLS)))
def test_bad_urls(url: str) -> None:
    for check in (check_http_proxy, check_https_proxy):
        with pytest.raises(Invalid, match=r"proxy .* (is not a valid URL|must begin with)") as caught:
            check(url)
        assert len(str(caught.value)) < 300


def test_proxy_schemes() -> None:
    with pytest.raises(Invalid, match="uses https, which is not supported"):
        check_http_proxy("https://proxy:3128")
    with pytest.raises(Invalid, match="must begin with http://"):
        check_http_proxy("ftp://proxy")
    with pytest.raises(Invalid, match="must begin with http:// or https://"):
        check_https_proxy("socks5://proxy")
    assert check_http_proxy("") == check_https_proxy("") == ""


def test_check_url_says_what_it_is_about() -> None:
    with pytest.raises(Invalid, match=r"^The webhook 'x' is not a valid URL"):
        check_url("x", what="The webhook")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "192.0.2.1",
        "192.0.2.0/24,2001:db8::/32",
        "example.com,.example.org,localhost",
        ".svc",
        "10.0.0.1,10.0.0.2",
        "*",
        "*,anything goes,,",
        "*.example.com",
    ],
)
def test_no_proxy(text: str) -> None:
    assert check_no_proxy(text, version="4.18") == text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a b.com", "is not valid"),
        ("example.com, example.org", "' example.org' is not valid"),
        ("example.com,", "'' is not valid"),
        ("Example.com", "is not valid"),
        ("..example.com", "is not valid"),
        ("192.0.2.0/33", "is not valid"),
        ("example.com:8080", "is not valid"),
        ("example.com,a.io,example.com", "'example.com' is there twice"),
        ("," * 100_000, "'' is not valid"),
        ("a" * 100_000, "is not valid"),
    ],
)
def test_no_proxy_refused(text: str, sentence: str) -> None:
    with pytest.raises(Invalid, match=sentence):
        check_no_proxy(text, version="4.18")


@pytest.mark.parametrize("version", ["", "4.8.0-fc.4", "4.8.0", "4.8", "4.18.3-multi"])
def test_wildcard_allowed(version: str) -> None:
    assert check_no_proxy("*", version=version) == "*"


@pytest.mark.parametrize("version", ["4.8.0-fc.3", "4.7", "4.7.99"])
def test_wildcard_too_early(version: str) -> None:
    with pytest.raises(Invalid, match=f"needs OpenShift 4.8.0-fc.4 or newer, this is {version}"):
        check_no_proxy("*", version=version)


def test_ignition_endpoint() -> None:
    parsed: list[bytes] = []
    encoded = base64.b64encode(PEM.encode()).decode()
    check_ignition_endpoint()
    check_ignition_endpoint(url="https://api.example.com:22624/config", ca_certificate=encoded, parse=parsed.append)
    assert parsed == [bytes([0x30, 3, 2, 1, 1])]


@pytest.mark.parametrize(
    ("url", "ca_certificate", "sentence"),
    [
        ("ftp://x", "", "must begin with http:// or https://"),
        ("x", "", "ignition endpoint URL 'x' is not a valid URL"),
        ("", "***", "must be PEM text encoded in base64"),
        ("", PEM, "must be PEM text encoded in base64"),
        ("", base64.b64encode(b"\xff\xfe").decode(), "must be PEM text encoded in base64"),
        ("", base64.b64encode(b"hello").decode(), "text outside of the certificates"),
        ("", base64.b64encode(b"\n").decode(), "holds no certificate"),
    ],
)
def test_ignition_endpoint_refused(url: str, ca_certificate: str, sentence: str) -> None:
    with pytest.raises(Invalid, match=sentence):
        check_ignition_endpoint(url=url, ca_certificate=ca_certificate)


TANG = json.dumps([{"url": "http://tang.example.com:7500", "thumbprint": "PLjN"}])


@pytest.mark.parametrize("enable_on", ENABLE_ON)
def test_disk_encryption(enable_on: str) -> None:
    assert check_disk_encryption(enable_on=enable_on, mode="tpmv2") == ()
    expected = () if enable_on == "none" else (TangServer(url="http://tang.example.com:7500", thumbprint="PLjN"),)
    assert check_disk_encryption(enable_on=enable_on, mode="tang", tang_servers=TANG) == expected


@pytest.mark.parametrize(
    ("enable_on", "mode", "servers", "sentence"),
    [
        ("everything", "tpmv2", "", "cannot be encrypted on 'everything'"),
        ("workers,masters", "tpmv2", "", "cannot be encrypted on"),
        ("all", "clevis", "", "mode 'clevis' is not known"),
        ("all", "tang", "", "needs at least one Tang server"),
        ("all", "tang", "[]", "needs at least one Tang server"),
        ("all", "tang", "{}", "must be a JSON list"),
        ("all", "tang", "[1]", "must be a JSON list"),
        ("all", "tang", '[{"url": "http://a.b"}]', "must be a JSON list"),
        ("all", "tang", "[" * 100_000, "must be a JSON list"),
        ("all", "tang", '[{"url": "", "thumbprint": "x"}]', "Tang server URL '' is not a valid URL"),
        ("all", "tang", '[{"url": "http://a.b", "thumbprint": ""}]', "'http://a.b' has no thumbprint"),
        ("all", "tang", '[{"url": "http://a.b", "thumbprint": " "}]', "has no thumbprint"),
        ("all", "tpmv2", "nonsense", "must be a JSON list"),
    ],
)
def test_disk_encryption_refused(enable_on: str, mode: str, servers: str, sentence: str) -> None:
    with pytest.raises(Invalid, match=sentence):
        check_disk_encryption(enable_on=enable_on, mode=mode, tang_servers=servers)


def test_tang_servers_may_carry_more() -> None:
    text = '[{"url": "https://t.example.com", "thumbprint": "a", "advertisement": "{}"}]'
    assert parse_tang_servers(text) == (TangServer(url="https://t.example.com", thumbprint="a"),)


@pytest.mark.parametrize(
    ("text", "quoted"),
    [("a b", "'a b'"), ("a\nb", r"'a\nb'"), ("\x1b[31m", r"'\x1b[31m'"), ("x" * 80, "'" + "x" * 80 + "'")],
)
def test_shown(text: str, quoted: str) -> None:
    assert shown(text) == quoted


def test_shown_is_short() -> None:
    assert shown("x" * 81) == "'" + "x" * 79 + "…'"


@pytest.mark.parametrize("url", ["ftp://user:secret@proxy:3128", "user:secret@proxy:3128", "https://user:secret@proxy"])
def test_a_refused_proxy_is_named_without_its_login(url: str) -> None:
    with pytest.raises(Invalid, match="proxy") as refusal:
        check_http_proxy(url)
    assert "secret" not in str(refusal.value)
