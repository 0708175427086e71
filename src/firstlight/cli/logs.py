"""`firstlight logs`: fetch the logs of a cluster, its controller or one host."""

from pathlib import Path
from typing import Annotated

import typer

from firstlight.cli.api import DEFAULT_URL, V2, Api, UrlOption
from firstlight.cli.finding_things import find_cluster, find_host
from firstlight.cli.output import put


def logs(
    cluster: Annotated[str, typer.Argument(metavar="CLUSTER", help="Name, id, or the beginning of an id.")],
    host: Annotated[str, typer.Option(help="Only the logs of this host.")] = "",
    controller: Annotated[bool, typer.Option("--controller", help="Only the logs of the controller.")] = False,
    to: Annotated[Path | None, typer.Option(help="File to write; without, a name that says what it is.")] = None,
    url: UrlOption = DEFAULT_URL,
) -> None:
    """Download logs that were collected, as an archive."""
    api = Api(url)
    found = find_cluster(api, cluster)
    if host:
        chosen = find_host(api, host)
        query = {"logs_type": "host", "host_id": str(chosen["id"])}
        target = to or Path(f"{found['name']}_{chosen.get('requested_hostname') or chosen['id']}.tar.gz")
    elif controller:
        query, target = {"logs_type": "controller"}, to or Path(f"{found['name']}_controller.tar.gz")
    else:
        query, target = {"logs_type": "all"}, to or Path(f"{found['name']}_logs.tar")
    size = api.download(f"{V2}/clusters/{found['id']}/logs", query, target)
    put(f"{target}: {size} bytes")
