"""Rows, documents and tables of static networks: each says what the other says, and nothing gets lost between them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from firstlight.core.errors import Invalid
from firstlight.core.network.host_rows import MODES, HostRow, document_of, normal_row, require_row, row_of
from firstlight.core.network.host_table import COLUMNS, rows_of, table_of
from firstlight.core.network.static_problems import DescribedHost, Severity, check_hosts

A, B = "02:00:00:80:12:1a", "02:00:00:80:12:1b"
ROW = HostRow(
    mac_addresses=(A,), ipv4="192.0.2.5/24", ipv4_gateway="192.0.2.1", dns=("192.0.2.2",), dns_search=("example.com",)
)

macs = st.lists(
    st.binary(min_size=6, max_size=6).map(lambda raw: raw.hex(":")), min_size=1, max_size=4, unique=True
).map(tuple)


@st.composite
def rows(draw: st.DrawFn) -> HostRow:
    v4 = draw(st.sampled_from(["", "dhcp", "192.0.2.5/24", "10.1.2.3/8"]))
    v6 = draw(st.sampled_from(["", "dhcp", "2001:db8::5/64", "fd00::1/48"]))
    return normal_row(
        HostRow(
            mac_addresses=draw(macs),
            bond_mode=draw(st.sampled_from(["", *sorted(MODES)])),
            vlan=draw(st.none() | st.integers(1, 4094)),
            mtu=draw(st.none() | st.integers(1280, 9000)),
            ipv4=v4,
            ipv4_gateway=draw(st.sampled_from(["", "192.0.2.1"])) if v4 else "",
            ipv6=v6,
            ipv6_gateway=draw(st.sampled_from(["", "fe80::1", "2001:db8::1"])) if v6 else "",
            dns=draw(st.lists(st.sampled_from(["192.0.2.2", "2001:db8::2"]), unique=True).map(tuple)),
            dns_search=draw(st.lists(st.sampled_from(["example.com", "lab.local"]), unique=True).map(tuple)),
        )
    )


@given(rows())
def test_a_row_comes_back_from_its_document(row: HostRow) -> None:
    assert require_row(row, what="x") == row
    assert row_of(*document_of(row)) == row


@given(st.lists(rows(), max_size=5))
def test_rows_come_back_from_their_table(given_rows: list[HostRow]) -> None:
    table = table_of(given_rows)
    assert rows_of(table) == tuple(given_rows)
    assert rows_of("\ufeff" + table.replace("\n", "\r\n")) == tuple(given_rows)


@given(rows())
def test_what_a_row_describes_has_the_right_form(row: HostRow) -> None:
    document, cards = document_of(row)
    codes = {one.code for one in check_hosts([DescribedHost(cards=cards, document=document)])}
    assert codes <= {"dns-missing", "no-address", "no-default-route", "gateway-outside"}


def test_a_bond_with_a_vlan() -> None:
    row = replace(ROW, mac_addresses=(A, B), vlan=404, mtu=9000)
    document, cards = document_of(normal_row(row))
    assert cards == ((A, "eth0"), (B, "eth1"))
    names = [(one["name"], one["type"], one["mtu"]) for one in document["interfaces"]]
    assert names == [
        ("eth0", "ethernet", 9000),
        ("eth1", "ethernet", 9000),
        ("bond0", "bond", 9000),
        ("bond0.404", "vlan", 9000),
    ]
    assert document["interfaces"][2]["link-aggregation"] == {"mode": "active-backup", "port": ["eth0", "eth1"]}
    assert document["routes"]["config"][0]["next-hop-interface"] == "bond0.404"


def test_what_nmstate_takes_for_granted_may_be_missing() -> None:
    document = {
        "interfaces": [
            {
                "name": "eth0",
                "type": "ethernet",
                "ipv4": {"enabled": True, "address": [{"ip": "192.0.2.5", "prefix-length": 24}]},
            }
        ],
        "routes": {
            "config": [
                {
                    "destination": "0.0.0.0/0",
                    "next-hop-address": "192.0.2.1",
                    "next-hop-interface": "eth0",
                    "table-id": 254,
                }
            ]
        },
    }
    assert row_of(document, ((A.upper(), "eth0"),)) == replace(ROW, dns=(), dns_search=())


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"ovs-db": {"x": 1}}, id="another-section"),
        pytest.param({"interfaces": []}, id="nothing"),
        pytest.param({"interfaces": "odd"}, id="odd"),
        pytest.param(
            {"routes": {"config": [{"destination": "10.0.0.0/8", "next-hop-address": "192.0.2.9"}]}}, id="route"
        ),
        pytest.param({"interfaces": [{"name": "ens3", "type": "ethernet"}]}, id="another-name"),
        pytest.param({"interfaces": [{"name": "eth0", "type": "ethernet", "lldp": {"enabled": True}}]}, id="a-setting"),
    ],
)
def test_what_a_row_cannot_say_stays_a_document(change: dict[str, object]) -> None:
    document, cards = document_of(ROW)
    assert row_of(document, cards) == ROW
    assert row_of({**document, **change}, cards) is None


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.sampled_from(["interfaces", "routes", "config", "ipv4", "name", "type", "x"]), inner)
        ),
    )
)
def test_no_document_is_too_odd(document: object) -> None:
    assert isinstance(row_of(document, ((A, "eth0"),)), HostRow | None)
    assert all(one.message for one in check_hosts([DescribedHost(cards=((A, "eth0"),), document=document)]))


# --- tables


def test_columns_in_any_order_and_separated_otherwise() -> None:
    assert rows_of(f"IPv4;mac_addresses;dns\n192.0.2.5/24;{A.upper()} {B};192.0.2.2 192.0.2.3\n\n;;\n") == (
        HostRow(mac_addresses=(A, B), bond_mode="active-backup", ipv4="192.0.2.5/24", dns=("192.0.2.2", "192.0.2.3")),
    )
    assert rows_of(f'mac_addresses,dns\n{A},"192.0.2.2, 192.0.2.3"\n')[0].dns == ("192.0.2.2", "192.0.2.3")
    assert rows_of(f"mac_addresses\tvlan\n{A}\t7\n")[0].vlan == 7


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("", "mac_addresses is missing"),
        ("ipv4\n1.2.3.4/5\n", "mac_addresses is missing"),
        ("mac_addresses,colour\n", "no column 'colour'. The first line names columns: mac_addresses, bond_mode"),
        ("mac_addresses,vlan,vlan\n", "vlan is there twice"),
        (f"mac_addresses,vlan\n{A},x\n", "Line 2: vlan is 'x', which is no number"),
        (f"mac_addresses,vlan\n{A},4095\n", "Line 2: vlan is 4095"),
        (f"mac_addresses,ipv4\n{A},\n{B},192.0.2.5\n", "Line 3: ipv4 is '192.0.2.5'. Write an address with its prefix"),
        (f"mac_addresses,ipv6\n{A},192.0.2.5/24\n", "ipv6 is '192.0.2.5/24'"),
        (f"mac_addresses,ipv4_gateway\n{A},192.0.2.1\n", "ipv4 is empty"),
        (f"mac_addresses,mtu\n{A},67\n", "mtu is 67"),
        (f"mac_addresses,dns\n{A},host\n", "dns has 'host'"),
        (f"mac_addresses,bond_mode\n{A},odd\n", "bond_mode is 'odd'"),
        ("mac_addresses\n02:00\n", "is not a MAC address"),
        (f"mac_addresses\n{A} {A.upper()}\n", "names a card twice"),
        (f"mac_addresses\n{A},x\n", "more cells than titles"),
        ('mac_addresses,dns\n"x', "Line 2 is no line of a table"),
        ("mac_addresses\n" + f"{A}\n" * 1001, "more than 1000 hosts"),
    ],
)
def test_tables_that_cannot_be(table: str, words: str) -> None:
    with pytest.raises(Invalid) as refused:
        rows_of(table)
    assert words in str(refused.value)


def test_every_column_is_written() -> None:
    assert table_of([ROW]).splitlines() == [
        ",".join(COLUMNS),
        f"{A},,,,192.0.2.5/24,192.0.2.1,,,192.0.2.2,example.com",
    ]


def test_severity_of_warnings() -> None:
    document, cards = document_of(replace(ROW, dns=(), dns_search=()))
    (problem,) = check_hosts([DescribedHost(cards=cards, document=document)])
    assert (problem.code, problem.severity, problem.mac_address) == ("dns-missing", Severity.WARNING, A)
