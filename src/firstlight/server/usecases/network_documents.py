"""Help with static networks before anything is stored: checks, and the way between tables and descriptions."""

import asyncio
from collections.abc import Sequence

import yaml
from msgspec import Struct

from firstlight.core.errors import Error, Invalid
from firstlight.core.infra_envs.wishes import MOST_STATIC_HOSTS, host_networks
from firstlight.core.install.static_network import applied_by, unmapped_names
from firstlight.core.install.static_network_files import AppliedBy
from firstlight.core.model.infra_env import HostNetworkConfig, MacInterface
from firstlight.core.network.host_rows import HostRow, document_of, require_row, row_of
from firstlight.core.network.host_table import rows_of, table_of
from firstlight.core.network.static_problems import DescribedHost, NetworkProblem, Severity, check_hosts
from firstlight.server.usecases.static_networks import parsed_network
from firstlight.server.usecases.world import World


class Checked(Struct, frozen=True, kw_only=True):
    problems: tuple[NetworkProblem, ...]
    nmstate_asked: bool
    """Did nmstate itself look at the descriptions? It knows more than we do."""


class Read(Struct, frozen=True, kw_only=True):
    rows: tuple[HostRow | None, ...]
    """One per host; none for a description that says more than a row can."""
    table: str | None
    """CSV, when every host is a row."""


class Rendered(Struct, frozen=True, kw_only=True):
    hosts: tuple[HostNetworkConfig, ...]
    rows: tuple[HostRow, ...]
    table: str


async def check(world: World, configs: Sequence[HostNetworkConfig], *, openshift_version: str = "") -> Checked:
    """Everything that is wrong with the descriptions, host by host, as far as it can be told without the hosts."""
    _require_few(configs)
    needed = bool(openshift_version) and applied_by(openshift_version) is AppliedBy.KEYFILES
    found, ours = await asyncio.to_thread(_checked, configs)
    asked = world.nmstate.here()
    if asked:
        readable = [position for position in range(len(configs)) if position not in found]
        verdicts = await asyncio.gather(*(_verdict(world, configs, position) for position in readable))
        ours += [problem for problem in verdicts if problem is not None]
    elif needed and configs:
        verdict = await _verdict(world, configs, 0)
        ours += [verdict] if verdict is not None else []
    return Checked(problems=tuple(sorted(ours, key=lambda problem: problem.host)), nmstate_asked=asked)


def _checked(configs: Sequence[HostNetworkConfig]) -> tuple[frozenset[int], list[NetworkProblem]]:
    """The hosts whose description is no YAML, and all that was found."""
    unreadable: dict[int, NetworkProblem] = {}
    hosts: list[DescribedHost] = []
    for position, config in enumerate(configs):
        cards = tuple((entry.mac_address, entry.logical_nic_name) for entry in config.mac_interface_map)
        document: object = {}
        try:
            document = parsed_network(config, position + 1)
        except Invalid as refusal:
            unreadable[position] = _problem(configs, position, code="yaml", message=str(refusal))
        hosts.append(DescribedHost(cards=cards, document=document))
    problems = [one for one in check_hosts(hosts) if one.host not in unreadable]
    for position, (host, network) in enumerate(zip(hosts, host_networks(configs), strict=True)):
        for name in unmapped_names(network, host.document):
            message = f"No MAC address is mapped to {name}. Map one, or give the interface `identifier: mac-address`."
            problems.append(_problem(configs, position, code="card-unmapped", message=message, interface=name))
    return frozenset(unreadable), [*unreadable.values(), *problems]


async def _verdict(world: World, configs: Sequence[HostNetworkConfig], position: int) -> NetworkProblem | None:
    try:
        await world.nmstate.keyfiles(configs[position].network_yaml)
    except Invalid as refusal:
        return _problem(configs, position, code="nmstate", message=f"nmstate refuses the description: {refusal}.")
    except Error as trouble:
        return _problem(configs, position, code=trouble.code, message=str(trouble))
    return None


def _problem(
    configs: Sequence[HostNetworkConfig], position: int, *, code: str, message: str, interface: str = ""
) -> NetworkProblem:
    mapped = configs[position].mac_interface_map
    return NetworkProblem(
        host=position,
        mac_address=mapped[0].mac_address if mapped else "",
        interface=interface,
        code=code,
        severity=Severity.ERROR,
        message=message,
    )


# --- tables and descriptions


def render(*, rows: Sequence[HostRow], table: str) -> Rendered:
    """Descriptions of the hosts in the rows, or in the table when there are none."""
    if rows and table.strip():
        raise Invalid("Both rows and a table are given. Send one of them.")
    _require_few(rows)
    wanted = tuple(require_row(row, what=f"Row {number}") for number, row in enumerate(rows, start=1))
    wanted = wanted or rows_of(table)
    return Rendered(hosts=tuple(map(_described, wanted)), rows=wanted, table=table_of(wanted))


def _described(row: HostRow) -> HostNetworkConfig:
    document, cards = document_of(row)
    text = yaml.safe_dump(document, sort_keys=False)
    return HostNetworkConfig(network_yaml=text, mac_interface_map=tuple(MacInterface(mac, name) for mac, name in cards))


def read(configs: Sequence[HostNetworkConfig]) -> Read:
    """The rows that stand for the descriptions, where there are such rows."""
    _require_few(configs)
    rows: list[HostRow | None] = []
    for number, config in enumerate(configs, start=1):
        cards = tuple((entry.mac_address, entry.logical_nic_name) for entry in config.mac_interface_map)
        rows.append(row_of(parsed_network(config, number), cards))
    complete = [row for row in rows if row is not None]
    return Read(rows=tuple(rows), table=table_of(complete) if len(complete) == len(rows) else None)


def _require_few(hosts: Sequence[object]) -> None:
    if len(hosts) > MOST_STATIC_HOSTS:
        raise Invalid(f"{len(hosts)} hosts are described, and at most {MOST_STATIC_HOSTS} are possible at once.")
