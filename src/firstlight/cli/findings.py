"""`firstlight findings`: what keeps a cluster from being installed, why, and what mends it."""

from collections.abc import Sequence
from typing import Annotated, Final

import msgspec
import typer

from firstlight.cli.api import DEFAULT_URL, V1, V2, Api, Document, UrlOption, part, parts
from firstlight.cli.finding_things import find_cluster
from firstlight.cli.output import Format, OutputOption, put, show_document

TROUBLE: Final = frozenset({"failure", "error", "pending"})
MARKS: Final = {"failure": "✗", "error": "!", "pending": "…", "success": "✓", "disabled": "-"}


def findings(
    cluster: Annotated[str, typer.Argument(metavar="CLUSTER", help="Name, id, or the beginning of an id.")],
    everything: Annotated[bool, typer.Option("--all", help="Also what is in order.")] = False,
    url: UrlOption = DEFAULT_URL,
    output: OutputOption = Format.TABLE,
) -> None:
    """Tell what keeps a cluster and its hosts from being installed: the evidence, and what mends it."""
    api = Api(url)
    found = find_cluster(api, cluster)
    of_cluster = api.get_list(f"{V1}/clusters/{found['id']}/findings")
    hosts = api.get_list(f"{V2}/clusters/{found['id']}/hosts")
    of_hosts = {
        str(host["id"]): api.get_list(f"{V1}/infra-envs/{host['infra_env_id']}/hosts/{host['id']}/findings")
        for host in hosts
    }
    if output is not Format.TABLE:
        show_document({"cluster": of_cluster, "hosts": of_hosts}, output=output)
        return
    title = f"Cluster {found['name']} is {found['status']}: {found['status_info']}"
    show_findings(of_cluster, title=title, everything=everything, output=output)
    for host in hosts:
        listed = of_hosts[str(host["id"])]
        if everything or any(finding["status"] in TROUBLE for finding in listed):
            put("")
            name = host.get("requested_hostname") or host["id"]
            title = f"Host {name} is {host['status']}: {host['status_info']}"
            show_findings(listed, title=title, everything=everything, output=output)


def show_findings(listed: Sequence[Document], *, title: str, everything: bool, output: Format) -> None:
    shown = [finding for finding in listed if everything or finding["status"] in TROUBLE]
    if output is not Format.TABLE:
        show_document(shown, output=output)
        return
    put(title)
    if not shown:
        put("  Nothing stands in the way.")
    for finding in shown:
        put(f"  {MARKS.get(finding['status'], '?')} {finding['id']} ({finding['status']}): {finding['message']}")
        for name, value in part(finding, "evidence").items():
            put(f"      {name}: {_plain(value)}")
        if finding.get("measured_at"):
            put(f"      measured at {finding['measured_at']}")
        for fix in parts(finding, "fixes"):
            body = _plain(part(fix, "body")) if fix.get("body") else ""
            put(f"      fix: {fix['title']}")
            put(f"           {fix['method']} {fix['path']} {body}".rstrip())


def _plain(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
