"""The agent's image, built from scratch and run by a real podman, as the service unit of the discovery system does.

The tests' own process plays the host's first process in a process namespace of its own: the agent enters the host
through process 1, and process 1 of the machine that runs the tests is none of its business.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator

import pytest

from tests.lab.image_stores import IMAGE, ROOT, Store, built, image_store

CPU_SECONDS, RESIDENT_MB = 0.5, 60


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with image_store("agent") as made:
        yield made


def test_the_same_sources_are_the_same_image(store: Store) -> None:
    """The tag is a digest of every file."""
    assert built(store.folder, "agent") == store.tags


def test_the_unit_copies_the_launcher_out(store: Store) -> None:
    target = store.folder / "hostbin"
    mount = f"--net=host --volume {target}:/hostbin"
    done = store.on_host(f"podman run --privileged --rm {mount} {IMAGE} cp /usr/bin/agent /hostbin")
    assert done.returncode == 0, done.stderr
    assert (target / "agent").read_bytes() == (ROOT / "deploy/agent/agent").read_bytes()
    assert os.access(target / "agent", os.X_OK)


def test_the_unit_sees_that_it_can_be_started(store: Store) -> None:
    """Otherwise it would forget the image at every start, and fetch it again."""
    done = store.on_host(f"podman run --rm --net=host --entrypoint /bin/true {IMAGE}")
    assert done.returncode == 0, done.stderr


def test_roles_and_programs_are_there(store: Store) -> None:
    """The names the original's service starts, and the programs our actions start."""
    names = "next_step_runner inventory free_addresses disk_speed_check logs_sender agent fio nsenter mount"
    look = f"for name in {names}; do command -v $name || echo missing $name; done"
    done = store.on_host(f"podman run --rm --net=host {IMAGE} sh -c '{look}'")
    assert "missing" not in done.stdout
    assert len(done.stdout.splitlines()) == len(names.split())
    wrong = store.on_host(f"podman run --rm --net=host {IMAGE} next_step_runner --url http://x")
    assert wrong.returncode == 2
    assert "infra-env-id" in wrong.stderr


def test_the_inventory_is_the_hosts(store: Store) -> None:
    done = store.on_host(f"podman run --rm --privileged --pid=host --uts=host --net=host {IMAGE} inventory")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["cpu"]["count"] == os.cpu_count()
    assert {interface["name"] for interface in report["interfaces"]} >= {"lo"}


def test_the_launcher_runs_the_agent(store: Store, record_property: Callable[[str, object], None]) -> None:
    """Under the flags of the unit: started, in the host's namespaces, small, ended by a signal."""
    launcher = store.folder / "agent"
    shutil.copyfile(ROOT / "deploy/agent/agent", launcher)
    service = "--url http://127.0.0.1:9 --infra-env-id 11111111-1111-4111-8111-111111111111 --insecure=false"
    logging = "--with-stdout-logging=true --with-journal-logging=false"
    done = store.on_host(f"""
        sh {launcher} {service} --agent-version {IMAGE} {logging} >$LOGGED 2>&1 &
        launcher=$!
        tries=0
        until grep -q 'Not registered' $LOGGED; do
            tries=$((tries + 1)); [ $tries -lt 300 ] || {{ cat $LOGGED; exit 9; }}; sleep 0.2
        done
        podman exec next-step-runner nsenter --target 1 --cgroup --mount --ipc --net -- readlink /proc/self/ns/mnt
        readlink /proc/1/ns/mnt
        podman exec next-step-runner sh -c 'read -r line </etc/resolv.conf; echo "$line"'
        head -n 1 /etc/resolv.conf
        agent=$(podman inspect --format '{{{{.State.Pid}}}}' next-step-runner)
        cut -d' ' -f14,15 /proc/$agent/stat
        grep VmHWM /proc/$agent/status
        kill -TERM $launcher; wait $launcher; echo ended $?
        podman ps --all --quiet
    """)
    assert done.returncode == 0, done.stdout + done.stderr
    entered, own, resolver, hosts_resolver, ticks, memory, ended, *left = done.stdout.splitlines()
    assert entered == own, "programs of the host run in the host's own mount namespace"
    assert resolver == hosts_resolver, "the agent resolves as the host does"
    assert ended == "ended 0"
    assert left == [], "no container is left behind"
    cpu = sum(map(int, ticks.split())) / os.sysconf("SC_CLK_TCK")
    resident = int(memory.split()[1]) / 1024
    record_property("agent_start_cpu_seconds", cpu)
    record_property("agent_resident_mb", round(resident, 1))
    assert cpu <= CPU_SECONDS
    assert resident <= RESIDENT_MB
