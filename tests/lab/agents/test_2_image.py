"""A machine that runs the agent's image as its unit does becomes one more host of the cluster."""

import shlex
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.lab.agents.hosts import AGENT_IMAGE, Host
from tests.lab.agents.laboratory import EXTRA, READY, URL, Laboratory
from tests.lab.agents.servers import Server, until
from tests.lab.agents.watching import wait_for, wait_for_statuses
from tests.lab.image_stores import IMAGE, ROOT, Store, environment, image_store

pytestmark = pytest.mark.timeout(600)

BOXED = EXTRA[1]


@pytest.fixture
def store() -> Iterator[Store]:
    with image_store("agent") as made:
        yield made


def boot(laboratory: Laboratory, host: Host) -> list[str | Path]:
    """The first process of a host: it sees its own name, resolver and clock daemon, and starts the launcher.

    It stays in the network of the machine that runs the tests, from which a laboratory is told apart; the launcher,
    and with it the agent, is in the host's own.
    """
    real = host.folder / "chronyc"
    shutil.copy2("/usr/bin/chronyc", real)
    programs = host.folder / "bin/chronyc"
    programs.write_text(programs.read_text().replace("/usr/bin/chronyc", str(real)))
    launcher = shlex.join(
        [
            *("sh", str(ROOT / "deploy/agent/agent"), "--url", URL, "--infra-env-id", laboratory.infra_env_id),
            *("--agent-version", AGENT_IMAGE, "--with-journal-logging=false", "--with-stdout-logging=true"),
        ]
    )
    script = f"""
        hostname {host.plan.name}
        mount --bind {host.folder}/resolv.conf /etc/resolv.conf
        mount --bind {programs} /usr/bin/chronyc
        mkdir -p /run/firstlight-agent && mount -t tmpfs tmpfs /run/firstlight-agent
        podman tag {IMAGE} {AGENT_IMAGE}
        nsenter --net=/run/netns/{host.namespace} {launcher} &
        while [ -d {host.folder} ] && [ ! -e {host.folder}/off ]; do sleep 0.1; done
        kill -TERM $!
        wait
        podman rm --all --force
        umount /run/firstlight-agent && rmdir /run/firstlight-agent
    """
    return ["unshare", "--pid", "--fork", "--kill-child", "--uts", "--mount", "--mount-proc", "sh", "-c", script]


def test_the_agents_image_runs_a_host(laboratory: Laboratory, store: Store) -> None:
    wait_for_statuses(laboratory.watcher, READY, seconds=120)
    host = laboratory.add(BOXED)
    lab = {"FIRSTLIGHT_AGENT_LAB": f"/proc/1/root{host.environment['FIRSTLIGHT_AGENT_LAB']}"}
    with ExitStack() as stack:
        machine = Server(stack, log=host.folder / "agent.log")
        machine.start(*boot(laboratory, host), environment={**environment(store.folder), **lab})
        try:
            wait_for_statuses(laboratory.watcher, {**READY, BOXED.name: "known"}, seconds=120)
            wait_for(laboratory.watcher, {}, seconds=60)
            [known] = [one for one in laboratory.watcher.cluster.hosts if one.requested_hostname == BOXED.name]
        finally:
            # Its containers can only be ended from inside: numbers of processes mean nothing out here.
            (host.folder / "off").touch()
            until(lambda: not machine.runs, what="the machine is off")
    assert known.id == str(BOXED.uuid)
    assert BOXED.address in known.inventory
    assert host.device in known.inventory
    assert "The agent was told to end" in machine.logged()
    laboratory.remove(BOXED.name)
    wait_for_statuses(laboratory.watcher, READY, seconds=60)
