"""Names, arguments and addresses: a table of accepted and refused values per rule."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.errors import Invalid
from firstlight.core.validate.addresses import is_ip, is_network
from firstlight.core.validate.arguments import INSTALLER_FLAGS, check_installer_arguments, check_kernel_argument
from firstlight.core.validate.names import (
    FORBIDDEN_HOST_NAMES,
    check_base_domain,
    check_cluster_domain,
    check_cluster_name,
    check_host_name,
    check_tags,
    is_host_name,
)
from firstlight.core.validate.ntp import check_ntp_sources, check_one_kind_of_ntp


def none_platform_name(name: str) -> str:
    return check_cluster_name(name, platform_none=True)


def installer_value(value: str) -> str:
    return check_installer_arguments([value])[0]


LABEL_63, LABEL_64 = "a" * 63, "a" * 64

ACCEPTED: list[tuple[Callable[[str], str], list[str]]] = [
    (check_cluster_name, ["a", "9", "a-b", "a--b", "1cluster", "a" * 54]),
    (none_platform_name, ["a", "a.b", "a-b.c-d.9", "x" * 54]),
    (
        check_base_domain,
        ["ab", "a-b", "a--b", "a" * 62, "example.com", "a.bc", "1.2.3.ab", "x-y.example.com", f"{LABEL_63}.com"],
    ),
    (check_host_name, ["a", "0", "a-", "a.b", "worker-0.example.com", "a" * 63, "a.-b"]),
    (check_tags, ["", "a", "tag1,tag2", "two words,x_1", "A"]),
    (installer_value, ["a", "ip=dhcp", "a<b", "a;b", "a:b", '"x"', "it's", "{[(1)]}", "@!#$%*_+-=/.,"]),
    (
        check_kernel_argument,
        ["quiet", "rd.net.timeout.carrier=60", 'a="b c"', '""', 'a"b"c', "isolcpus=1,2,10-20,100-2000:2/25", "é"],
    ),
    (
        check_ntp_sources,
        ["", "ab", "a.b", "localhost", "pool.ntp.org", "1.2.3.4", "2001:db8::1", "a-b,c.d", "a" * 63, "a..b"],
    ),
]

REFUSED: list[tuple[Callable[[str], str], list[str]]] = [
    (check_cluster_name, ["", "-a", "a-", "A", "a.b", "a_b", "a b", "a\n", "é", "a" * 55]),
    (none_platform_name, ["", ".", "a.", ".a", "a..b", "a.-b", "a-.b", "A.b", "x" * 55]),
    (
        check_base_domain,
        [
            "", "a", "-a", "a-", "ab\n", "a" * 63, "A.com", "a.b", "a.b-", "-a.com", "a-.com", "a..com", ".com", "com.",
            "1.2.3.4", "12.34", f"{LABEL_64}.com", "a_b.com", "٣٣.com", ("ab." * 85) + "c",
        ],
    ),
    (check_host_name, ["", "-a", ".a", "a.", "A", "a_b", "a b", "a\n", "a..b", "a" * 64, *FORBIDDEN_HOST_NAMES]),
    (check_tags, [",", "a,", ",a", "a, b", " a", "a ", "a  b", "a-b", "é", "a\n"]),
    (installer_value, ["", "a b", "a\n", "a&b", "a|b", "a`b", "a~b", "a\\b", "a>b", "a?b", "é"]),
    (check_kernel_argument, ["", " ", "a b", 'a"b', '"', "a\tb", "a\nb", '"a\nb"', '"a\0"', '"a" b']),
    (
        check_ntp_sources,
        ["a", ",", "a.b,", "ab, cd", "Pool.org", "ab-", ".ab", "a" * 64, "a_b", "fe80::1%eth0", "ab\n"],
    ),
]  # fmt: skip


def rows(table: list[tuple[Callable[[str], str], list[str]]]) -> list[object]:
    return [
        pytest.param(check, value, id=f"{check.__name__}-{index}")
        for check, values in table
        for index, value in enumerate(values)
    ]


@pytest.mark.parametrize(("check", "value"), rows(ACCEPTED))
def test_accepted(check: Callable[[str], str], value: str) -> None:
    assert check(value) == value


@pytest.mark.parametrize(("check", "value"), rows(REFUSED))
def test_refused(check: Callable[[str], str], value: str) -> None:
    with pytest.raises(Invalid) as caught:
        check(value)
    assert caught.value.code == "invalid"
    assert str(caught.value).endswith(".")


HOSTILE = [
    "a" * 100_000,
    "a" * 100_000 + "!",
    "a-" * 50_000,
    "a." * 50_000,
    "." * 100_000,
    "-" * 100_000,
    ":" * 100_000 + "g",
    "a:" * 50_000 + "!",
    '"' * 99_999,
    'a"b"' * 25_000 + " ",
    "a " * 50_000,
    ".yaml.patch_" * 8_000 + "!",
    "a.yaml.patch" + "_" * 100_000 + "!",
    "1." * 50_000,
    ",".join(["ab"] * 30_000) + ",!",
]


@pytest.mark.parametrize("check", [check for check, _ in ACCEPTED], ids=lambda check: check.__name__)
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_long_hostile_text_ends(check: Callable[[str], str], text: str) -> None:
    """Any nested repetition would not come back from these; what is refused is not repeated in the message."""
    try:
        answer = check(text)
    except Invalid as refused:
        answer = str(refused)
    assert answer == text or len(answer) < 500


ORIGINAL_FORMS = {
    check_cluster_name: (r"(?=.{1,54}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?", "ab0-.A_"),
    none_platform_name: (r"(?=.{1,54}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", "ab0-.A"),
    check_host_name: (r"(?=.{1,63}$)[a-z0-9][a-z0-9-]{0,62}(?:[.][a-z0-9-]{1,63})*", "ab0-.A"),
    check_kernel_argument: (r"(?:(?:[^ \t\n\r\"]+)|(?:\"[^\"\n\r]*\"))+", 'a" =\t'),
    check_tags: (r"(?a:\w+( \w+)*(,\w+( \w+)*)*)|", "a_, -"),
}


@given(st.data())
def test_same_language_as_the_published_patterns(data: st.DataObject) -> None:
    check = data.draw(st.sampled_from(list(ORIGINAL_FORMS)))
    pattern, alphabet = ORIGINAL_FORMS[check]
    text = data.draw(st.text(alphabet=alphabet, max_size=12))
    try:
        accepted = check(text) == text
    except Invalid:
        accepted = False
    assert accepted == (re.fullmatch(pattern, text) is not None)


DOMAIN = re.compile(r"[a-z\d]([\-]*[a-z\d]+)+|([a-z\d]([\-]*[a-z\d]+)*\.)+[a-z\d]+([\-]*[a-z\d]+)+")
DOTTED_DIGITS = re.compile(r"\d+(\.\d+)+")


@given(st.text(alphabet="ab0-.A", max_size=12))
def test_same_domains_as_the_published_patterns(text: str) -> None:
    try:
        accepted = check_base_domain(text) == text
    except Invalid:
        accepted = False
    assert accepted == (DOMAIN.fullmatch(text) is not None and DOTTED_DIGITS.fullmatch(text) is None)


def test_cluster_domain_length() -> None:
    base = ".".join(["b" * 60, "c" * 60, "d" * 59, "e"])
    name = "n" * (191 - len(f"apps..{base}"))
    check_cluster_domain(name, base_domain=base)
    with pytest.raises(Invalid, match="has 192 characters, and at most 191"):
        check_cluster_domain(name + "n", base_domain=base)


def test_cluster_domain_labels() -> None:
    check_cluster_domain(LABEL_63, base_domain="example.com")
    with pytest.raises(Invalid, match="longer than 63"):
        check_cluster_domain(LABEL_64, base_domain="example.com")


@pytest.mark.parametrize("name", sorted(FORBIDDEN_HOST_NAMES))
def test_forbidden_host_names_have_the_form_of_one(name: str) -> None:
    assert is_host_name(name)
    with pytest.raises(Invalid, match="forbidden"):
        check_host_name(name)


def test_installer_arguments() -> None:
    arguments = [*INSTALLER_FLAGS, "--append-karg", "nameserver=1.1.1.1"]
    assert check_installer_arguments(arguments) == tuple(arguments)
    assert check_installer_arguments([]) == ()


@pytest.mark.parametrize("flag", ["--ignition-url", "-i", "-", "--", "--append-karg=x", "--append-kargs"])
def test_installer_flag_refused(flag: str) -> None:
    with pytest.raises(Invalid, match=r"is not allowed\. Allowed flags: --append-karg"):
        check_installer_arguments(["--append-karg", "a", flag])


@pytest.mark.parametrize("operation", ["replace", "delete", ""])
def test_kernel_arguments_are_only_appended(operation: str) -> None:
    with pytest.raises(Invalid, match="Only append is"):
        check_kernel_argument("quiet", operation=operation)


def test_one_kind_of_ntp() -> None:
    check_one_kind_of_ntp(additional="a.b", only=None)
    check_one_kind_of_ntp(additional=None, only="a.b")
    check_one_kind_of_ntp(additional=None, only=None)
    with pytest.raises(Invalid, match="exclude each other"):
        check_one_kind_of_ntp(additional="", only="a.b")


@pytest.mark.parametrize(
    ("text", "address", "network"),
    [
        ("1.2.3.4", True, False),
        ("::", True, False),
        ("1.2.3.4/24", False, True),
        ("2001:db8::/32", False, True),
        ("1.2.3.4/33", False, False),
        ("1.2.3.4/", False, False),
        ("1.2.3.4/255.255.255.0", False, False),
        ("1.2.3.4/0.0.0.255", False, False),
        ("01.2.3.4", False, False),
        ("fe80::1%eth0", False, False),
        ("fe80::1%eth0/64", False, False),
        ("", False, False),
        ("1" * 100_000, False, False),
        ("1.2.3.4/" + "1" * 100_000, False, False),
    ],
)
def test_addresses(text: str, address: bool, network: bool) -> None:
    assert is_ip(text) is address
    assert is_network(text) is network
