"""Which proxy a URL goes through."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.host.proxies import proxy_for

BOTH = {"HTTP_PROXY": "http://plain:3128", "https_proxy": "secure:3129"}


@pytest.mark.parametrize(
    ("url", "exceptions", "expected"),
    [
        ("http://example.com/", "", "http://plain:3128"),
        ("https://example.com/", "", "http://secure:3129"),
        ("ftp://example.com/", "", None),
        ("http://localhost:80/", "", None),
        ("http://127.0.0.9/", "", None),
        ("http://[::1]/", "", None),
        ("http://example.com/", "*", None),
        ("http://example.com/", "example.com", None),
        ("http://EXAMPLE.com./", "Example.com", None),
        ("http://api.example.com/", "example.com", None),
        ("http://example.com/", ".example.com", "http://plain:3128"),
        ("http://api.example.com/", ".example.com", None),
        ("http://api.example.com/", "*.example.com", None),
        ("http://badexample.com/", "example.com", "http://plain:3128"),
        ("http://192.0.2.7/", "192.0.2.0/24", None),
        ("http://192.0.3.7/", "192.0.2.0/24", "http://plain:3128"),
        ("http://192.0.2.7/", "192.0.2.7", None),
        ("http://[fd00::7]/", "fd00::/64", None),
        ("http://[fd00::7]/", "fd00::7", None),
        ("http://example.com:8080/", "example.com:8080", None),
        ("http://example.com:8081/", "example.com:8080", "http://plain:3128"),
        ("http://example.com/", "example.com:80", None),
        ("http://192.0.2.7:81/", "192.0.2.7:80", "http://plain:3128"),
        ("http://host.lab/", " a.lab , host.lab ", None),
        ("http://192.0.2.7/", "lab", "http://plain:3128"),
    ],
)
def test_the_proxy_of_a_url(url: str, exceptions: str, expected: str | None) -> None:
    assert proxy_for(url, {**BOTH, "NO_PROXY": exceptions}) == expected


def test_without_variables_everything_is_direct() -> None:
    assert proxy_for("http://example.com/", {}) is None


@given(st.text(), st.text())
def test_any_text_is_answered(url: str, exceptions: str) -> None:
    proxy_for(url, {**BOTH, "NO_PROXY": exceptions})
    proxy_for(f"http://{url}", {**BOTH, "NO_PROXY": exceptions})
