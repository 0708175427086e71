"""Every kind of host through its whole installation, with the real program: stages, infos, commands, exit code."""

import json
from pathlib import Path

import pytest

from tests.host.agent.scripted import Asked, Said, document, scripted
from tests.host.installer.planes import Plane, kubeconfig, tls
from tests.host.installer.rig import CLUSTER_ID, HOST_ID, INFRA_ENV_ID, OTHER_IDS, TOKEN, Hub, Rig

pytestmark = pytest.mark.anyio
WORKER_ID = "44444444-2222-4333-8444-555555555555"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path)


@pytest.mark.parametrize("role", ["master", "arbiter"])
async def test_a_host_of_the_control_plane(rig: Rig, role: str) -> None:
    hub = Hub()
    async with scripted(hub) as server:
        assert await rig.finish(server.url, role=role) == 0, rig.log()
    assert hub.own() == [
        ("Starting installation", role),
        ("Installing", role),
        *hub.own()[2:-1],
        ("Rebooting", ""),
    ]
    assert hub.order() == ["Starting installation", "Installing", "Writing image to disk", "Rebooting"]
    assert ("Writing image to disk", "100%") in hub.own()
    infos = {info for _, info in hub.own()}
    assert "3%" not in infos
    assert not infos >= {"52%", "54%"}, "a step of less than five points is no news"
    ignition = f"/opt/install-dir/{role}-{HOST_ID}.ign"
    assert rig.calls("coreos-installer") == [["coreos-installer", "install", "--insecure", "-i", ignition, "/dev/sda"]]
    assert (rig.root / ignition.lstrip("/")).stat().st_mode & 0o777 == 0o600
    assert [words[1:3] for words in rig.calls("shutdown")] == [["-r", "+1"]]
    assert hub.tokens == {TOKEN}
    assert not any(TOKEN in word for words in rig.calls() for word in words), "a token shows in ps"
    assert TOKEN not in rig.log()
    assert (rig.folder / "podman-token").read_text().strip() == TOKEN
    (logs,) = rig.calls("podman")
    assert logs[logs.index("agent:1") + 1] == "logs_sender"
    assert "-bootstrap=false" in logs
    assert INFRA_ENV_ID in logs


async def test_a_worker_waits_for_two_masters(rig: Rig) -> None:
    masters = [{"id": one, "progress": {"current_stage": "Rebooting"}} for one in OTHER_IDS]
    hub = Hub(masters=[{**one, "requested_hostname": f"m-{number}"} for number, one in enumerate(masters)])
    looks = 0

    def soon(asked: Asked) -> Said | None:
        nonlocal looks
        looks += asked.query == "role=master"
        if looks == 3:
            hub.masters = [{**one, "progress": {"current_stage": "Done"}} for one in hub.masters]
        return None

    hub.refuse = soon
    async with scripted(hub) as server:
        assert await rig.finish(server.url, role="worker") == 0, rig.log()
    assert hub.order() == [
        *("Starting installation", "Installing", "Writing image to disk", "Waiting for control plane", "Rebooting")
    ]
    told = "0 of 2 masters are done; not yet: m-0 (Rebooting), m-1 (Rebooting)"
    assert ("Waiting for control plane", told) in hub.own()


async def test_a_worker_of_day_two_waits_for_nobody(rig: Rig) -> None:
    hub = Hub(cluster={"kind": "AddHostsCluster"})
    async with scripted(hub) as server:
        assert await rig.finish(server.url, "--control-plane-count", "1", role="worker") == 0, rig.log()
    assert hub.order()[-1] == "Rebooting"


async def test_a_worker_whose_masters_never_come_is_late_and_fails_in_the_end(rig: Rig) -> None:
    """The stage's limit is told and goes by; only that of the whole installation is the end."""
    hub = Hub()
    limits = {"HOST_STAGE_WAITING_FOR_CONTROL_PLANE_TIMEOUT": "10s", "INSTALLATION_TIMEOUT": "3m"}
    async with scripted(hub) as server:
        assert await rig.finish(server.url, role="worker", **limits) == 1
    stage, info = hub.own()[-1]
    assert stage == "Failed"
    assert info == "The installation of two masters did not happen within 3.6 seconds: 0 of 2 masters are done."
    late = "0 of 2 masters are done (longer than 0.2 seconds)"
    assert hub.own()[-2] == ("Waiting for control plane", late)
    assert "takes longer than 0.2 seconds; waiting goes on" in rig.log()
    assert not rig.calls("shutdown")


async def test_the_bootstrap(rig: Rig) -> None:
    hub, plane = Hub(), Plane()
    inventory = json.dumps({"interfaces": [{"ipv4_addresses": ["192.168.126.12/24"], "ipv6_addresses": []}]})
    names = zip(OTHER_IDS, ("master-1", "master-2"), strict=True)
    hub.masters = [
        {"id": one, "infra_env_id": INFRA_ENV_ID, "requested_hostname": name, "role": "master", "inventory": "{}"}
        | {"progress": {"current_stage": "Rebooting"}}
        for one, name in names
    ]
    hub.masters[0]["inventory"] = inventory
    log = rig.root / "var/log/containers/machine-config-server-x_openshift_machine-config-server-1.log"
    asked = 'requested by {}:32780 User-Agent:"Ignition/2.6.0"\n'
    log.write_text("".join(asked.format(address) for address in ("192.168.126.12", "192.168.126.20")))
    worker = {**hub.masters[0], "id": WORKER_ID, "role": "worker", "requested_hostname": "worker-0"}
    hub.workers = [{**worker, "inventory": inventory.replace("126.12", "126.20")}]
    done = rig.root / "opt/openshift/.bootkube.done"
    done.parent.mkdir(parents=True)
    done.touch()
    authority, context = tls(rig.folder)
    async with scripted(hub) as server, scripted(plane, tls=context) as api:
        config = rig.root / "opt/openshift/auth/kubeconfig"
        config.parent.mkdir()
        config.write_text(kubeconfig(api.url, authority))
        assert await rig.finish(server.url, "--control-plane-count", "3", role="bootstrap") == 0, rig.log()
    assert hub.order() == [
        *("Starting installation", "Installing", "Writing image to disk", "Waiting for control plane"),
        *("Waiting for bootkube", "Waiting for controller", "Rebooting"),
    ]
    assert hub.own()[0] == ("Starting installation", "bootstrap")
    assert ("Installing", "master") in hub.own()
    others = {(host, stage) for host, stage, _ in hub.stages if host != HOST_ID}
    assert (OTHER_IDS[0], "Configuring") in others
    assert (OTHER_IDS[1], "Configuring") not in others
    assert {(one, "Joined") for one in OTHER_IDS} <= others
    assert [stage for host, stage in others if host == WORKER_ID] == ["Waiting for ignition"]
    assert hub.uploads == 1
    podman = rig.calls("podman")
    assert "--once-from" in podman[0]
    assert "-bootstrap=true" in podman[1]
    started = [words[-1] for words in rig.calls("systemctl") if words[1] == "start"]
    assert started == ["bootkube.service", "approve-csr.service", "progress.service"]
    manifests = rig.root / "opt/openshift/manifests"
    job = json.loads((manifests / "assisted-installer-controller-job.yaml").read_text())
    assert job["kind"] == "Job"
    secret = json.loads((manifests / "assisted-installer-controller-secret.yaml").read_text())
    assert secret["stringData"] == {"pull-secret-token": TOKEN}
    config_map = json.loads((manifests / "assisted-installer-controller-configmap.yaml").read_text())
    assert config_map["data"]["cluster-id"] == CLUSTER_ID
    keys = rig.root / "opt/openshift/openshift/99_openshift-machineconfig_99-assisted-installer-master-ssh.yaml"
    assert "ssh-rsa AAAA me" in keys.read_text()
    assert (rig.root / "root/.docker/config.json").read_text() == '{"auths":{}}'


async def test_a_single_node_merges_what_bootkube_made(rig: Rig) -> None:
    file = {"path": "/etc/hostname", "contents": {"source": "data:,sno"}}
    reference = {"config": {"merge": [{"source": "https://api-int.example.com:22623/config/master"}]}}
    hub = Hub(host_ignition={"ignition": {"version": "3.1.0", **reference}, "storage": {"files": [file]}})
    openshift = rig.root / "opt/openshift"
    openshift.mkdir(parents=True)
    kubelet = {"path": "/etc/kubelet", "contents": {"source": "data:,k"}}
    rendered = {"ignition": {"version": "3.2.0"}, "storage": {"files": [kubelet]}}
    (openshift / "master.ign").write_text(json.dumps(rendered))
    (openshift / ".bootkube.done").touch()
    async with scripted(hub) as server:
        assert await rig.finish(server.url, "--control-plane-count", "1", role="bootstrap") == 0, rig.log()
    assert hub.order() == [
        *("Starting installation", "Installing", "Waiting for bootkube", "Writing image to disk", "Rebooting")
    ]
    assert ("Installing", "bootstrap") in hub.own()
    made = json.loads((rig.root / f"opt/install-dir/master-{HOST_ID}.ign").read_text())
    assert [one["path"] for one in made["storage"]["files"]] == ["/etc/kubelet", "/etc/hostname"]
    assert made["ignition"] == {"version": "3.2.0"}
    assert not rig.calls("ssh-keygen")
    assert not [words for words in rig.calls("systemctl") if words[1] == "restart"]
    assert [words[1:3] for words in rig.calls("shutdown")] == [["-r", "now"]]


async def test_three_attempts_each_from_nothing(rig: Rig) -> None:
    rig.behave("coreos-installer", "printf '> (40%%)\\r' >&2; echo 'Error: disk vanished' >&2; exit 1\n")
    hub = Hub()
    async with scripted(hub) as server:
        assert await rig.finish(server.url, role="master") == 1
    assert len(rig.calls("coreos-installer")) == 3
    stage, info = hub.own()[-1]
    assert stage == "Failed"
    assert "Error: disk vanished" in info
    assert "/dev/sda" in info


async def test_a_settled_report_is_not_repeated_and_an_outage_is_waited_out(rig: Rig) -> None:
    hub = Hub()
    count = {"Installing": 0, "Rebooting": 0}

    def refuse(asked: Asked) -> Said | None:
        stage = asked.json()["current_stage"] if asked.path.endswith("/progress") else ""
        if stage in count:
            count[stage] += 1
            if stage == "Installing":
                return document({"code": "409", "reason": "later already"}, 409)
            return Said(503, b"") if count[stage] < 4 else None
        return None

    hub.refuse = refuse
    async with scripted(hub) as server:
        assert await rig.finish(server.url, role="master") == 0, rig.log()
    assert count == {"Installing": 1, "Rebooting": 4}
    assert rig.calls("shutdown")


async def test_a_machine_that_ironic_manages_is_not_rebooted(rig: Rig) -> None:
    rig.behave("systemctl", '[ "$1" = list-units ] && echo "ironic-agent.service loaded active"\n')
    hub = Hub()
    async with scripted(hub) as server:
        assert await rig.finish(server.url, role="master") == 0, rig.log()
    assert hub.own()[-1] == ("Rebooting", "Ironic will reboot the node shortly")
    assert not rig.calls("shutdown")
    assert ["systemctl", "stop", "agent.service"] in rig.calls("systemctl")


async def test_arguments_that_make_no_sense_are_no_success(rig: Rig) -> None:
    assert await rig.finish("http://127.0.0.1:1", "--installer-args", "[oops", role="master") == 2
    assert not rig.calls()
