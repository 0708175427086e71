"""All commands under one name."""

import typer

from firstlight.cli import (
    clusters,
    doctor,
    events,
    findings,
    hosts,
    images,
    infra_envs,
    logs,
    reencrypting,
    release,
    serving,
    simulating,
    tokens,
    version,
)

app = typer.Typer(
    name="firstlight",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help=(
        "Boot bare machines, understand them, install OpenShift on them. [bold]firstlight serve[/bold] runs the"
        " service; [bold]firstlight demo[/bold] shows a whole installation with simulated machines; the other commands"
        " talk to the service at --url or FIRSTLIGHT_URL."
    ),
    rich_markup_mode="rich",
    epilog="Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 not found, 4 service not reachable.",
)

RUN, USE = "Run", "Talk to a running service"
app.command("serve", rich_help_panel=RUN)(serving.serve)
app.add_typer(images.app, name="images", rich_help_panel=RUN)
app.add_typer(release.app, name="release", rich_help_panel=RUN)
app.command("migrate", rich_help_panel=RUN)(serving.migrate)
app.command("reencrypt", rich_help_panel=RUN)(reencrypting.reencrypt)
app.command("doctor", rich_help_panel=RUN)(doctor.doctor)
app.command("demo", rich_help_panel=RUN)(simulating.demo)
app.command("simulate", rich_help_panel=RUN)(simulating.simulate)
app.command("version", rich_help_panel=RUN)(version.version)
app.add_typer(clusters.app, name="clusters", rich_help_panel=USE)
app.add_typer(infra_envs.app, name="infra-envs", rich_help_panel=USE)
app.add_typer(hosts.app, name="hosts", rich_help_panel=USE)
app.command("findings", rich_help_panel=USE)(findings.findings)
app.command("events", rich_help_panel=USE)(events.events)
app.command("logs", rich_help_panel=USE)(logs.logs)
app.command("token", rich_help_panel=USE)(tokens.token)
