"""Write docs/events.md: every published event with where it comes from and which test shows it, or why it cannot be."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from firstlight.core.events.catalogue import NAMED_EVENTS
from firstlight.core.events.event import Event

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = ROOT / "docs" / "events.md"
SOURCES: Final = ROOT / "src" / "firstlight"
TESTS: Final = ROOT / "tests"
EVENTS: Final = SOURCES / "core" / "events"
NO_PROOF: Final = (
    "tests/core/events/",
    "tests/docs/",
    "tests/store/",
    "tests/api/test_events.py",
    "tests/api/test_stream.py",
)
"""Tests that know every name, or take some as examples, and so show nothing about one."""

RECEIVED: Final = {
    "reboots_for_node": "sent by the in-cluster controller through `POST /v2/events`",
}
ONE_COMMIT: Final = "a change is one commit, made wholly or not at all; what fails is answered to the caller"
STREAMED: Final = "images are put together while they are streamed: none is made, stored or uploaded beforehand"
WITH_CLUSTER: Final = "all hosts are decided together with their cluster in one commit, so no single one can fail"
NOT_APPLICABLE: Final = {
    "cancel_install_start_failed": ONE_COMMIT,
    "cancel_install_commit_failed": ONE_COMMIT,
    "expired_image_deleted": STREAMED,
    "existing_image_reused": STREAMED,
    "generate_image_fetch_failed": STREAMED,
    "generate_image_format_failed": STREAMED,
    "generate_minimal_iso_failed": STREAMED,
    "ignition_config_image_generated": STREAMED,
    "upload_image_failed": STREAMED,
    "host_registration_setting_properties_failed": ONE_COMMIT,
    "host_set_status_failed": ONE_COMMIT,
    "host_reset_fetch_failed": ONE_COMMIT,
    "host_cancel_installation_failed": WITH_CLUSTER,
    "host_boot_logs_uploaded": "agents and installers upload logs of kinds `host` and `controller` only",
    "host_approved_updated": "approval belongs to the Kubernetes resources of a host; over REST there is none",
}

HEAD: Final = """# Events

Written by `tools/event_page.py`; a test holds it against the code. Each event can be listed with `GET /v2/events` and
followed on `/api/firstlight/v1/events`, where changes that have no event here are told too. Words in braces are
properties.
"""


def used_in() -> dict[str, list[str]]:
    """By class name, the modules outside the event room that use the class."""
    names = {event.__name__ for event in NAMED_EVENTS}
    found: dict[str, list[str]] = {}
    for path in sorted(SOURCES.rglob("*.py")):
        if EVENTS in path.parents:
            continue
        for name in sorted(names & set(_words(path))):
            found.setdefault(name, []).append(path.relative_to(ROOT).as_posix())
    return found


def _words(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Name(id=word) | ast.Attribute(attr=word):
                yield word
            case _:
                pass


def shown_by(event: type[Event]) -> str:
    """The first test that names the event or its class; nothing for what does not happen."""
    if event.name in NOT_APPLICABLE:
        return ""
    if event.name in RECEIVED:
        return "tests/api/test_events.py"
    for path in sorted(TESTS.rglob("test_*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(NO_PROOF) and mentions(path, event):
            return name
    return ""


def mentions(path: Path, event: type[Event]) -> bool:
    text = path.read_text()
    return f'"{event.name}"' in text or event.__name__ in _identifiers(text)


def _identifiers(text: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}


def source_of(event: type[Event], used: dict[str, list[str]]) -> str:
    if event.name in RECEIVED:
        return RECEIVED[event.name]
    if event.name in NOT_APPLICABLE:
        return f"not applicable: {NOT_APPLICABLE[event.name]}"
    return ", ".join(f"`{module}`" for module in used.get(event.__name__, ()))


def page() -> str:
    used = used_in()
    lines = [HEAD]
    for title, kind in (("Clusters", "ClusterEvent"), ("Hosts", "HostEvent"), ("Infra-envs", "InfraEnvEvent")):
        lines += [f"## {title}", "", "| event | severity | says | comes from | shown by |", "|---|---|---|---|---|"]
        events = [event for event in NAMED_EVENTS if event.__mro__[1].__name__ == kind]
        for event in sorted(events, key=lambda event: event.name.lower()):
            test = shown_by(event)
            cells = (f"`{event.name}`", event.level.value, event.template, source_of(event, used), test and f"`{test}`")
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        lines.append("")
    return "\n".join(lines)


def main() -> int:
    PAGE.write_text(page())
    print(f"wrote {PAGE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
