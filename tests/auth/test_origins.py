"""Names and origins: what a browser may be made to send, and what machines send."""

import pytest

from firstlight.server.auth.origins import MOST_REMEMBERED, Hosts, is_foreign_write, named_in

OURS = Hosts(["api.lab.example.com", "*.wild.example.com", "Upper.Example.COM."])


@pytest.mark.parametrize(
    "host",
    [
        "",
        "127.0.0.1",
        "127.0.0.1:8090",
        "192.0.2.7:443",
        "[::1]:8090",
        "[2001:db8::1]",
        "localhost",
        "LOCALHOST:8090",
        "localhost.:80",
        "app.localhost:3000",
        "api.lab.example.com",
        "API.lab.example.com.:8090",
        "upper.example.com",
        "a.b.wild.example.com:1",
    ],
)
def test_names_that_are_ours(host: str) -> None:
    assert OURS.accepts(host)
    assert OURS.accepts(host)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example.com",
        "localhost.evil.com",
        "notlocalhost",
        "127.0.0.1.evil.com:8090",
        "wild.example.com",
        "xwild.example.com",
        "api.lab.example.com.evil.com",
        "api.lab.example.com:80@evil.com",
        "evil.com:localhost",
        "[::1].evil.com",
        "[evil.com]:80",
        "[127.0.0.1",
        ":8090",
        "a b",
    ],
)
def test_names_that_are_not(host: str) -> None:
    assert not OURS.accepts(host)
    assert not OURS.accepts(host)


def test_a_star_lets_every_name_in() -> None:
    assert Hosts(["*"]).accepts("whatever.example.com:8090")


def test_what_is_remembered_is_bounded() -> None:
    hosts = Hosts(["*"])
    for number in range(MOST_REMEMBERED + 10):
        assert hosts.accepts(f"host-{number}")
    assert len(hosts._accepted) == MOST_REMEMBERED


@pytest.mark.parametrize(("header", "name"), [("A.b:80", "a.b"), ("[::1]:80", "::1"), ("x:", "x"), ("x:8x", "")])
def test_the_name_in_a_header(header: str, name: str) -> None:
    assert named_in(header) == name


def browser(site: str = "", origin: str = "", host: str = "127.0.0.1:8090") -> dict[str, str]:
    given = {"sec-fetch-site": site, "origin": origin, "host": host}
    return {name: value for name, value in given.items() if value}


@pytest.mark.parametrize(
    ("headers", "foreign"),
    [
        pytest.param(browser(), False, id="no-browser"),
        pytest.param(browser("same-origin", "http://127.0.0.1:8090"), False, id="our-page"),
        pytest.param(browser("none"), False, id="typed-in"),
        pytest.param(browser("", "HTTP://127.0.0.1:8090"), False, id="our-page-old-browser"),
        pytest.param(browser("", "https://ui.example.com", "ui.example.com"), False, id="behind-a-tls-proxy"),
        pytest.param(browser("cross-site", "https://trusted.example.com"), False, id="trusted-origin"),
        pytest.param(browser("same-site", "http://127.0.0.1:3000"), True, id="other-port"),
        pytest.param(browser("cross-site", "https://evil.example.com"), True, id="other-site"),
        pytest.param(browser("cross-site"), True, id="other-site-without-origin"),
        pytest.param(browser("same-site"), True, id="same-site-without-origin"),
        pytest.param(browser("", "null"), True, id="sandboxed-page"),
        pytest.param(browser("same-origin", "null"), True, id="null-is-nobody"),
        pytest.param(browser("", "https://evil.example.com"), True, id="other-site-old-browser"),
        pytest.param(browser("", "https://"), True, id="empty-origin"),
        pytest.param({"origin": "https://"}, True, id="empty-origin-without-host"),
    ],
)
def test_writes_across_sites(headers: dict[str, str], foreign: bool) -> None:
    for method in ("POST", "PUT", "PATCH", "DELETE", "BREW"):
        assert is_foreign_write(method, headers, trusted=("https://trusted.*",)) is foreign
    for method in ("GET", "HEAD", "OPTIONS"):
        assert not is_foreign_write(method, headers)
