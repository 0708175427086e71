"""`firstlight hosts …`."""

from typing import Annotated, Any

import typer

from firstlight.cli.api import DEFAULT_URL, V1, V2, Api, Document, UrlOption, part
from firstlight.cli.ending import Code, stop
from firstlight.cli.finding_things import find_cluster, find_host, find_infra_env, host_path, hosts_of
from firstlight.cli.findings import show_findings
from firstlight.cli.host_log import log
from firstlight.cli.output import Format, OutputOption, put, show_document, show_facts, show_list

app = typer.Typer(no_args_is_help=True, help="Hosts: list, show, change, and why they are not ready.")

app.command("log")(log)

HostArgument = Annotated[str, typer.Argument(metavar="HOST", help="Name, id, or the beginning of an id.")]


@app.command("list")
def list_hosts(
    cluster: Annotated[str, typer.Option(help="Only the hosts of this cluster.")] = "",
    infra_env: Annotated[str, typer.Option(help="Only the hosts of this infra-env.")] = "",
    url: UrlOption = DEFAULT_URL,
    output: OutputOption = Format.TABLE,
) -> None:
    """List the hosts."""
    api = Api(url)
    if cluster:
        hosts = api.get_list(f"{V2}/clusters/{find_cluster(api, cluster)['id']}/hosts")
    elif infra_env:
        hosts = hosts_of(api, find_infra_env(api, infra_env))
    else:
        hosts = [host for found in api.get_list(f"{V2}/infra-envs") for host in hosts_of(api, found)]
    if output is Format.TABLE:
        for host in hosts:
            host["part"] = _part(host)
            host["stage"] = part(host, "progress").get("current_stage", "")
    columns = [("Name", "requested_hostname"), ("Id", "id"), ("Role", "part"), ("Status", "status")]
    show_list(hosts, [*columns, ("Stage", "stage"), ("Why", "status_info")], output=output)


def _part(host: Document) -> str:
    role, suggested = str(host.get("role", "")), str(host.get("suggested_role", ""))
    return f"{suggested} (suggested)" if role == "auto-assign" and suggested not in ("", role) else role


@app.command("show")
def show(host: HostArgument, url: UrlOption = DEFAULT_URL, output: OutputOption = Format.TABLE) -> None:
    """Show one host."""
    api = Api(url)
    found: Document = api.get(host_path(find_host(api, host)))
    if output is not Format.TABLE:
        show_document(found, output=output)
        return
    progress = part(found, "progress")
    show_facts(
        [
            ("Name", found.get("requested_hostname")),
            ("Id", found["id"]),
            ("Infra-env", found.get("infra_env_id")),
            ("Cluster", found.get("cluster_id")),
            ("Role", _part(found)),
            ("Bootstrap", found.get("bootstrap")),
            ("Status", found["status"]),
            ("Why", found.get("status_info")),
            ("Stage", progress.get("current_stage")),
            ("Progress", progress.get("progress_info")),
            ("Installation disk", found.get("installation_disk_path")),
            ("Last heard", found.get("checked_in_at")),
        ]
    )


@app.command("set")
def change(
    host: HostArgument,
    name: Annotated[str, typer.Option(help="New name.")] = "",
    role: Annotated[str, typer.Option(help="auto-assign, master, arbiter or worker.")] = "",
    disk: Annotated[str, typer.Option(help="Id of the disk to install on.")] = "",
    url: UrlOption = DEFAULT_URL,
    output: OutputOption = Format.TABLE,
) -> None:
    """Change name, role or installation disk of a host."""
    wanted: dict[str, Any] = {}
    if name:
        wanted["host_name"] = name
    if role:
        wanted["host_role"] = role
    if disk:
        wanted["disks_selected_config"] = [{"id": disk, "role": "install"}]
    if not wanted:
        stop("nothing to change. Give --name, --role or --disk.", Code.USAGE)
    api = Api(url)
    made = api.send("PATCH", host_path(find_host(api, host)), wanted)
    _tell(made, output)


@app.command("bind")
def bind(
    host: HostArgument,
    cluster: Annotated[str, typer.Argument(metavar="CLUSTER", help="The cluster it is given to.")],
    url: UrlOption = DEFAULT_URL,
    output: OutputOption = Format.TABLE,
) -> None:
    """Give a host to a cluster."""
    api = Api(url)
    path, cluster_id = host_path(find_host(api, host)), find_cluster(api, cluster)["id"]
    _tell(api.send("POST", f"{path}/actions/bind", {"cluster_id": cluster_id}), output)


@app.command("unbind")
def unbind(host: HostArgument, url: UrlOption = DEFAULT_URL, output: OutputOption = Format.TABLE) -> None:
    """Take a host from its cluster."""
    api = Api(url)
    _tell(api.send("POST", f"{host_path(find_host(api, host))}/actions/unbind"), output)


@app.command("retry")
def retry(host: HostArgument, url: UrlOption = DEFAULT_URL, output: OutputOption = Format.TABLE) -> None:
    """Try a failed host again while its cluster installs."""
    api = Api(url)
    _tell_tried(api.send("POST", f"{_own_path(find_host(api, host))}/actions/retry"), output)


@app.command("replace")
def replace(
    host: HostArgument,
    replacement: Annotated[str, typer.Argument(metavar="MACHINE", help="The host of no cluster that takes its place.")],
    new_name: Annotated[
        bool, typer.Option("--new-name", help="It keeps its own name, not that of the failed host.")
    ] = False,
    url: UrlOption = DEFAULT_URL,
    output: OutputOption = Format.TABLE,
) -> None:
    """Give the place of a failed host to another machine while their cluster installs."""
    api = Api(url)
    path, other = _own_path(find_host(api, host)), find_host(api, replacement)
    wanted = {"host_id": other["id"], "infra_env_id": other["infra_env_id"], "keep_name": not new_name}
    _tell_tried(api.send("POST", f"{path}/actions/replace", wanted), output)


@app.command("findings")
def findings(
    host: HostArgument,
    everything: Annotated[bool, typer.Option("--all", help="Also what is in order.")] = False,
    url: UrlOption = DEFAULT_URL,
    output: OutputOption = Format.TABLE,
) -> None:
    """Tell what keeps a host from being installed: the evidence, and what mends it."""
    api = Api(url)
    found = find_host(api, host)
    path = f"{_own_path(found)}/findings"
    title = f"Host {found.get('requested_hostname') or found['id']} is {found['status']}: {found['status_info']}"
    show_findings(api.get_list(path), title=title, everything=everything, output=output)


def _own_path(host: Document) -> str:
    return f"{V1}/infra-envs/{host['infra_env_id']}/hosts/{host['id']}"


def _tell_tried(tried: Document, output: Format) -> None:
    if output is Format.TABLE:
        put(f"Host {tried['name']} is {tried['status']}: {tried['status_info']}")
        put(f"Its cluster is {tried['cluster_status']}.")
    else:
        show_document(tried, output=output)


def _tell(host: Document, output: Format) -> None:
    if output is Format.TABLE:
        put(f"Host {host.get('requested_hostname') or host['id']} is {host['status']}: {host['status_info']}")
    else:
        show_document(host, output=output)
