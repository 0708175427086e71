"""`firstlight infra-envs …`."""

import sys
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from firstlight.cli.api import DEFAULT_URL, V1, V2, Api, Document, UrlOption
from firstlight.cli.finding_things import find_cluster, find_infra_env, hosts_of
from firstlight.cli.output import Format, OutputOption, put, show_document, show_facts, show_list
from firstlight.cli.secrets import read_pull_secret

app = typer.Typer(no_args_is_help=True, help="Infra-envs: what machines are booted from.")

InfraEnvArgument = Annotated[str, typer.Argument(metavar="INFRA_ENV", help="Name, id, or the beginning of an id.")]


UNREACHABLE: Final = ("images-unreachable-for-hosts", "service-unreachable-for-hosts")


def warn_of_loopback(api: Api) -> None:
    """Whoever is about to boot a machine should know that it cannot reach us. Apart from what programs read."""
    warnings: list[Document] = api.get(f"{V1}/about").get("warnings") or []
    for warning in warnings:
        if warning.get("code") in UNREACHABLE:
            sys.stderr.write(f"Warning: {warning['message']} ({warning['setting']})\n")


@app.command("list")
def list_infra_envs(url: UrlOption = DEFAULT_URL, output: OutputOption = Format.TABLE) -> None:
    """List the infra-envs."""
    columns = [("Name", "name"), ("Id", "id"), ("Version", "openshift_version"), ("Architecture", "cpu_architecture")]
    show_list(Api(url).get_list(f"{V2}/infra-envs"), [*columns, ("Cluster", "cluster_id")], output=output)


@app.command("show")
def show(infra_env: InfraEnvArgument, url: UrlOption = DEFAULT_URL, output: OutputOption = Format.TABLE) -> None:
    """Show one infra-env and where its image is."""
    api = Api(url)
    found: Document = api.get(f"{V2}/infra-envs/{find_infra_env(api, infra_env)['id']}")
    warn_of_loopback(api)
    if output is not Format.TABLE:
        show_document(found, output=output)
        return
    show_facts(
        [
            ("Name", found["name"]),
            ("Id", found["id"]),
            ("Version", found.get("openshift_version")),
            ("Architecture", found.get("cpu_architecture")),
            ("Cluster", found.get("cluster_id")),
            ("Image kind", found.get("type")),
            ("Image", found.get("download_url")),
            ("Hosts", len(hosts_of(api, found))),
        ]
    )


@app.command("create")
def create(
    name: Annotated[str, typer.Argument(help="Name of the infra-env.")],
    cluster: Annotated[str, typer.Option(help="Give its hosts to this cluster.")] = "",
    openshift_version: Annotated[str, typer.Option("--version", help="OpenShift release of the image.")] = "",
    pull_secret: Annotated[
        Path | None, typer.Option(help="File with the pull secret.", envvar="FIRSTLIGHT_PULL_SECRET_FILE")
    ] = None,
    minimal: Annotated[bool, typer.Option("--minimal", help="A small image that fetches the rest.")] = False,
    url: UrlOption = DEFAULT_URL,
    output: OutputOption = Format.TABLE,
) -> None:
    """Register an infra-env."""
    api = Api(url)
    wanted: dict[str, Any] = {"name": name, "pull_secret": read_pull_secret(pull_secret)}
    if cluster:
        wanted["cluster_id"] = find_cluster(api, cluster)["id"]
    if openshift_version:
        wanted["openshift_version"] = openshift_version
    if minimal:
        wanted["image_type"] = "minimal-iso"
    made = api.send("POST", f"{V2}/infra-envs", wanted)
    warn_of_loopback(api)
    if output is Format.TABLE:
        put(f"Infra-env {made['name']} is registered: {made['id']}")
        put(f"Boot the machines from {made.get('download_url')}")
    else:
        show_document(made, output=output)
