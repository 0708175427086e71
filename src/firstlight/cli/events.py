"""`firstlight events`: what happened, and with --follow what happens."""

import time
from typing import Annotated, Final

import msgspec
import typer

from firstlight.cli.api import DEFAULT_URL, V1, V2, Api, Document, UrlOption
from firstlight.cli.finding_things import find_cluster, find_host
from firstlight.cli.output import Format, OutputOption, put, show_document, show_list

MOST: Final = 5000
RECONNECT_SECONDS: Final = 1.0


def events(
    cluster: Annotated[str, typer.Option(help="Only events of this cluster.")] = "",
    host: Annotated[str, typer.Option(help="Only events of this host.")] = "",
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what happens from now on.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=MOST, help="The newest of them.")] = 100,
    severity: Annotated[str, typer.Option(help="Comma list of info, warning, error, critical.")] = "",
    since: Annotated[int | None, typer.Option(help="With --follow: begin after the event of this number.")] = None,
    url: UrlOption = DEFAULT_URL,
    output: OutputOption = Format.TABLE,
) -> None:
    """List events, oldest first."""
    api = Api(url)
    query = {"limit": str(limit), "order": "descending"}
    if cluster:
        query["cluster_id"] = str(find_cluster(api, cluster)["id"])
    if host:
        query["host_id"] = str(find_host(api, host)["id"])
    if severity:
        query["severities"] = severity
    if follow:
        _follow(api, query, since=since, output=output)
        return
    found = api.get_list(f"{V2}/events", query)[::-1]
    columns = [("Time", "event_time"), ("Severity", "severity"), ("Event", "name"), ("Message", "message")]
    show_list(found, columns, output=output)


def _follow(api: Api, query: dict[str, str], *, since: int | None, output: Format) -> None:
    """Ends when the user interrupts it. A broken connection is resumed where it broke."""
    scope = {"cluster_id": query["cluster_id"]} if "cluster_id" in query else {}
    headers = {} if since is None else {"Last-Event-ID": str(since)}
    wanted = set(filter(None, query.get("severities", "").split(",")))
    try:
        while True:
            with api.stream(f"{V1}/events", scope, headers) as lines:
                for line in lines:
                    member, _, value = line.partition(": ")
                    if member == "id":
                        headers["Last-Event-ID"] = value
                    elif member == "data":
                        event: Document = msgspec.json.decode(value)
                        if query.get("host_id", event.get("host_id")) == event.get("host_id") and (
                            not wanted or event.get("severity") in wanted
                        ):
                            _tell(event, output)
            time.sleep(RECONNECT_SECONDS)
    except KeyboardInterrupt:
        return


def _tell(event: Document, output: Format) -> None:
    if output is Format.TABLE:
        put(f"{event['event_time']}  {event['severity']:<8}  {event['message']}")
    elif output is Format.YAML:
        put("---")
        show_document(event, output=output)
    else:
        # One line per event, so that programs can read along.
        put(msgspec.json.encode(event).decode())
