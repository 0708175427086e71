"""What an account asked of the API server, by the server's own audit log."""

import json
from pathlib import Path
from typing import Final, NamedTuple

from lab.cluster.api import Json

FINISHED: Final = ("ResponseStarted", "ResponseComplete")


class Act(NamedTuple):
    """One right that was used: `namespace` is empty for what is asked of all of them."""

    namespace: str
    group: str
    resource: str
    verb: str


def flags(folder: Path, user: str) -> list[str]:
    """Arguments of an API server that keeps what `user` does in `folder`."""
    policy: Json = {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "rules": [{"level": "Metadata", "users": [user]}, {"level": "None"}],
    }
    (folder / "audit-policy.json").write_text(json.dumps(policy))
    return [f"--audit-policy-file={folder / 'audit-policy.json'}", f"--audit-log-path={log_file(folder)}"]


def log_file(folder: Path) -> Path:
    return folder / "audit.log"


def acts(folder: Path) -> dict[Act, set[int]]:
    """Everything that was asked → the statuses it was answered with."""
    found: dict[Act, set[int]] = {}
    for line in log_file(folder).read_text().splitlines():
        event: Json = json.loads(line)
        what = event.get("objectRef")
        if what is None or event["stage"] not in FINISHED:
            continue
        resource = "/".join(filter(None, (what.get("resource"), what.get("subresource"))))
        # A new object of its namespace is asked for without a name, and cluster-wide kinds name no namespace.
        act = Act(what.get("namespace", ""), what.get("apiGroup", ""), resource, event["verb"])
        found.setdefault(act, set()).add(int(event["responseStatus"]["code"]))
    return found


def granted(cluster_rules: list[Json], namespaced: dict[str, list[Json]]) -> set[Act]:
    """All that rules allow, each act once."""
    everywhere = [("", rule) for rule in cluster_rules]
    listed = [*everywhere, *((space, rule) for space, rules in namespaced.items() for rule in rules)]
    return {
        Act(space, group, resource, verb)
        for space, rule in listed
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
