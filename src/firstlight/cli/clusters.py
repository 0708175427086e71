"""`firstlight clusters …`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from firstlight.cli.api import DEFAULT_URL, V2, Api, Document, UrlOption, part, parts
from firstlight.cli.ending import Code, stop
from firstlight.cli.finding_things import find_cluster
from firstlight.cli.output import Format, OutputOption, put, show_document, show_facts, show_list
from firstlight.cli.secrets import read_pull_secret

app = typer.Typer(no_args_is_help=True, help="Clusters: list, create, install, give up.")

ClusterArgument = Annotated[str, typer.Argument(metavar="CLUSTER", help="Name, id, or the beginning of an id.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


@app.command("list")
def list_clusters(url: UrlOption = DEFAULT_URL, output: OutputOption = Format.TABLE) -> None:
    """List the clusters."""
    clusters = Api(url).get_list(f"{V2}/clusters")
    for cluster in clusters:
        cluster["percent"] = part(cluster, "progress").get("total_percentage", 0)
    columns = [("Name", "name"), ("Id", "id"), ("Status", "status"), ("Version", "openshift_version")]
    show_list(clusters, [*columns, ("%", "percent"), ("Domain", "base_dns_domain")], output=output)


@app.command("show")
def show(cluster: ClusterArgument, url: UrlOption = DEFAULT_URL, output: OutputOption = Format.TABLE) -> None:
    """Show one cluster and its hosts."""
    api = Api(url)
    found: Document = api.get(f"{V2}/clusters/{find_cluster(api, cluster)['id']}")
    if output is not Format.TABLE:
        show_document(found, output=output)
        return
    progress = part(found, "progress")
    show_facts(
        [
            ("Name", found["name"]),
            ("Id", found["id"]),
            ("Status", found["status"]),
            ("Why", found.get("status_info")),
            ("Version", found.get("openshift_version")),
            ("Control plane", found.get("control_plane_count")),
            ("Domain", found.get("base_dns_domain")),
            ("API VIPs", _addresses(found, "api_vips")),
            ("Ingress VIPs", _addresses(found, "ingress_vips")),
            ("Machine networks", ", ".join(item["cidr"] for item in parts(found, "machine_networks"))),
            ("Done", f"{progress.get('total_percentage', 0)} %"),
        ]
    )
    hosts = parts(found, "hosts")
    if hosts:
        put("")
        for host in hosts:
            host["stage"] = part(host, "progress").get("current_stage", "")
        columns = [("Name", "requested_hostname"), ("Id", "id"), ("Role", "role"), ("Status", "status")]
        show_list(hosts, [*columns, ("Stage", "stage"), ("Why", "status_info")], output=output)


def _addresses(cluster: Document, member: str) -> str:
    return ", ".join(str(item["ip"]) for item in parts(cluster, member))


@app.command("create")
def create(
    name: Annotated[str, typer.Argument(help="Name of the cluster.")],
    base_domain: Annotated[str, typer.Option(help="The cluster's names end with NAME.BASE_DOMAIN.")] = "",
    openshift_version: Annotated[str, typer.Option("--version", help="OpenShift release, 4.20 or 4.20.13.")] = "",
    pull_secret: Annotated[
        Path | None, typer.Option(help="File with the pull secret.", envvar="FIRSTLIGHT_PULL_SECRET_FILE")
    ] = None,
    ssh_key: Annotated[Path | None, typer.Option(help="File with the public key for the nodes.")] = None,
    control_plane_count: Annotated[int, typer.Option(help="1 makes a single-node cluster.")] = 3,
    url: UrlOption = DEFAULT_URL,
    output: OutputOption = Format.TABLE,
) -> None:
    """Register a cluster."""
    api = Api(url)
    wanted: dict[str, Any] = {
        "name": name,
        "openshift_version": openshift_version or newest_version(api),
        "pull_secret": read_pull_secret(pull_secret),
        "control_plane_count": control_plane_count,
    }
    if control_plane_count == 1:
        wanted["high_availability_mode"] = "None"
    if base_domain:
        wanted["base_dns_domain"] = base_domain
    if ssh_key is not None:
        wanted["ssh_public_key"] = _read(ssh_key)
    made = api.send("POST", f"{V2}/clusters", wanted)
    if output is Format.TABLE:
        put(f"Cluster {made['name']} is registered: {made['id']}")
        put(f"Next: firstlight infra-envs create {name} --cluster {name}, then boot the machines from its image.")
    else:
        show_document(made, output=output)


def newest_version(api: Api) -> str:
    versions: dict[str, Document] = api.get(f"{V2}/openshift-versions", {"only_latest": "true"})
    for version, about in versions.items():
        if about.get("default"):
            return version
    if not versions:
        stop("the service offers no OpenShift release. Name one with --version, or configure RELEASE_IMAGES.")
    return max(versions, key=lambda version: [int(part) for part in version.split("-")[0].split(".") if part.isdigit()])


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError as error:
        stop(f"{path} cannot be read: {error.strerror}.", Code.USAGE)


@app.command("delete")
def delete(cluster: ClusterArgument, yes: YesOption = False, url: UrlOption = DEFAULT_URL) -> None:
    """Give a cluster up."""
    api = Api(url)
    found = find_cluster(api, cluster)
    if not yes:
        typer.confirm(f"Give up cluster {found['name']} ({found['id']})?", abort=True)
    api.send("DELETE", f"{V2}/clusters/{found['id']}")
    put(f"Cluster {found['name']} is given up.")


@app.command("install")
def install(cluster: ClusterArgument, url: UrlOption = DEFAULT_URL, output: OutputOption = Format.TABLE) -> None:
    """Start the installation of a cluster that is ready."""
    _act(url, cluster, "install", output)


@app.command("cancel")
def cancel(cluster: ClusterArgument, url: UrlOption = DEFAULT_URL, output: OutputOption = Format.TABLE) -> None:
    """Stop an installation that is under way."""
    _act(url, cluster, "cancel", output)


@app.command("reset")
def reset(cluster: ClusterArgument, url: UrlOption = DEFAULT_URL, output: OutputOption = Format.TABLE) -> None:
    """Go back to before an installation that failed or was cancelled."""
    _act(url, cluster, "reset", output)


def _act(url: str, word: str, action: str, output: Format) -> None:
    api = Api(url)
    found = api.send("POST", f"{V2}/clusters/{find_cluster(api, word)['id']}/actions/{action}")
    if output is Format.TABLE:
        put(f"Cluster {found['name']} is {found['status']}: {found['status_info']}")
    else:
        show_document(found, output=output)


@app.command("kubeconfig")
def kubeconfig(
    cluster: ClusterArgument,
    to: Annotated[Path | None, typer.Option(help="Where to write it; without, it is printed.")] = None,
    url: UrlOption = DEFAULT_URL,
) -> None:
    """Fetch the kubeconfig of an installed cluster."""
    api = Api(url)
    found = find_cluster(api, cluster)
    path, query = f"{V2}/clusters/{found['id']}/downloads/credentials", {"file_name": "kubeconfig"}
    if to is None:
        put(api.text(path, query).rstrip())
        return
    api.download(path, query, to)
    to.chmod(0o600)
    put(f"The kubeconfig of {found['name']} is in {to}.")
