"""The new cluster while it comes to be: what bootkube, scheduler and operators do, as far as an installation sees it.

The control plane is real (lab/cluster/bootkube.py). It runs where the cluster's API address is: for several masters in
a namespace of its own that stands for the bootstrap first and for the masters later, for a single node on that node.
"""

import base64
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar

from firstlight.server.usecases.yaml_documents import parse_manifest
from lab.cluster import kubelet
from lab.cluster.api import Json, Refusal, wait_for
from lab.cluster.bootkube import API_PORT, ControlPlane
from lab.cluster.joiner import REQUESTS
from lab.cluster.machine_configs import MachineConfigServer, machine_config, rendered_name, role_labels
from lab.cluster.objects import account_token, definition, furnish, place, put_operator, put_router_certificate
from tests.lab.installs.machines import BINARIES, Machine
from tests.namespaces import enter

T = TypeVar("T")
MCO = "openshift-machine-config-operator"
NAME, SPACE = "assisted-installer-controller", "assisted-installer"
ACCOUNT = "var/run/secrets/kubernetes.io/serviceaccount"
MACHINE_CONFIGS = ("machineconfiguration.openshift.io", "v1", "MachineConfig", "machineconfigs", "Cluster")
MASTER = "node-role.kubernetes.io/master"
ENOUGH = 2
"""Masters that are ready when bootkube has done its part."""


class NewCluster:
    """Told to `attend` again and again, it does whatever has become due."""

    def __init__(
        self,
        stack: ExitStack,
        *,
        members: frozenset[str],
        domain: str,
        address: str,
        folder: Path,
        where: Callable[[], str],
    ) -> None:
        """`where` gives the namespace that has the API's address, made when it is first needed."""
        self._stack = stack
        self._members = members
        self._domain = domain
        self._address = address
        self._folder = folder
        self._where = where
        self._thread: ThreadPoolExecutor | None = None
        self._starting: Future[None] | None = None
        self._bootstrap: Machine | None = None
        self._controller_on = ""
        self._is_done = False
        self._is_on_disk = False
        self.plane: ControlPlane | None = None
        self.skipped: set[str] = set()
        """Kinds among the manifests that this control plane does not know."""
        folder.mkdir()

    @property
    def is_single(self) -> bool:
        return len(self._members) == 1

    # --- what becomes due ---------------------------------------------------------------------------------------------

    def attend(self, machines: Mapping[str, Machine]) -> None:
        own = [machine for name, machine in machines.items() if name in self._members]
        if self._bootstrap is None:
            self._bootstrap = next((one for one in own if one.unit("bootkube.service") == "active"), None)
            if self._bootstrap is not None:
                for machine in own:
                    machine.server_log = self.server_log(self._bootstrap)
                self._begin(self._bootstrap)
            return
        if self._starting is None or not self._starting.done():
            return
        self._starting.result()
        if self.is_single and not self._is_on_disk:
            self._follow_to_disk(self._bootstrap)
            return
        nodes = self._labelled(self.nodes())
        ready = {name for name, node in nodes.items() if is_ready(node) and MASTER in node["metadata"]["labels"]}
        if self._bootstrap.unit("approve-csr.service") == "active" or (self.is_single and not self._controller_on):
            self._in(self._approve)
        if not self._is_done and len(ready) >= ENOUGH:
            self._finish()
        if not self._controller_on and ready:
            self._in(lambda: self._show_server(min(ready)))
            self._start_controller(machines[min(ready)])

    def _follow_to_disk(self, machine: Machine) -> None:
        """The control plane of a single node goes with its live system, and comes back with its data from the disk."""
        if machine.is_installed:
            assert self.plane is not None
            assert self._thread is not None
            self._is_on_disk = True
            self._starting = self._thread.submit(self.plane.start)

    def _begin(self, bootstrap: Machine) -> None:
        namespace = self._where()
        self._thread = ThreadPoolExecutor(1, initializer=enter, initargs=(namespace,))
        self._stack.callback(self._end)
        self._starting = self._thread.submit(self._start, bootstrap)

    def _in(self, work: Callable[[], T]) -> T:
        """From inside the network, where the API is at home."""
        assert self._thread is not None
        return self._thread.submit(work).result()

    def _start(self, bootstrap: Machine) -> None:
        home = bootstrap.own / "opt/openshift"
        self.plane = ControlPlane(home, data=self._folder, address=self._address, port=API_PORT)
        self.plane.api_server.also(*kubelet.flags(home / "tls", addresses="InternalIP"))
        self.plane.start()
        admin = self.plane.admin
        furnish(admin)
        place(admin, definition(*MACHINE_CONFIGS))
        for pool in ("master", "worker"):
            rendered: Json = {
                "apiVersion": "machineconfiguration.openshift.io/v1",
                "kind": "MachineConfig",
                "metadata": {"name": rendered_name(pool)},
            }
            _retried(lambda rendered=rendered: place(admin, rendered))
        for folder in ("manifests", "openshift"):
            for file in sorted((home / folder).iterdir()):
                for document in parse_manifest(file.name, file.read_bytes()):
                    self._apply(dict(document))
        server = MachineConfigServer(home, address=self._address, also_in=self.server_log(bootstrap))
        self._stack.enter_context(server.running())
        if self.is_single:
            kubeconfig = (home / "auth/kubeconfig-kubelet").read_text()
            (home / "master.ign").write_bytes(machine_config(kubeconfig, "master"))
            self._finish()

    @staticmethod
    def server_log(bootstrap: Machine) -> Path:
        """Of the machine-config server, where the bootstrap looks for it."""
        return bootstrap.live / "log/containers/machine-config-server-lab.log"

    def _show_server(self, node: str) -> None:
        """The pod that the machine-config server has on a master, for those who read its log."""
        assert self.plane is not None
        container = {"name": "machine-config-server", "image": "registry.example.com/ocp/mco:lab"}
        metadata: Json = {
            "name": "machine-config-server-lab",
            "namespace": MCO,
            "labels": {"k8s-app": "machine-config-server"},
        }
        spec: Json = {"nodeName": node, "containers": [container], "automountServiceAccountToken": False}
        place(self.plane.admin, {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})

    def _apply(self, document: Json) -> None:
        """As bootkube applies it; kinds that only operators of OpenShift bring are left out, by name."""
        assert self.plane is not None
        space = document["metadata"].get("namespace", "")
        try:
            if space:
                place(self.plane.admin, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}})
            place(self.plane.admin, document)
        except (Refusal, StopIteration) as reason:
            if isinstance(reason, Refusal) and reason.status != 404:
                raise
            self.skipped.add(str(document["kind"]))

    def _finish(self) -> None:
        assert self.plane is not None
        assert self._bootstrap is not None
        self.plane.finish()
        self._bootstrap.set_unit("progress.service", "inactive")
        self._is_done = True

    def _labelled(self, nodes: Mapping[str, Json]) -> Mapping[str, Json]:
        """The nodes that have their roles; the others are given them."""
        assert self.plane is not None
        admin, found = self.plane.admin, dict[str, Json]()
        for name, node in nodes.items():
            wanted = role_labels(node["metadata"].get("annotations", {}))
            if wanted.items() <= node["metadata"].get("labels", {}).items():
                found[name] = node
            else:
                change: Json = {"metadata": {"labels": wanted}}
                self._in(lambda name=name, change=change: admin.patch(f"/api/v1/nodes/{name}", change))
        return found

    def _approve(self) -> None:
        """As the bootstrap's approve-csr.service: whoever asks."""
        assert self.plane is not None
        for request in self.plane.admin.get(REQUESTS)["items"]:
            if not request.get("status", {}).get("conditions"):
                condition = {"type": "Approved", "status": "True", "reason": "Lab", "message": "approve-csr.service"}
                request["status"] = {**request.get("status", {}), "conditions": [condition]}
                path = f"{REQUESTS}/{request['metadata']['name']}/approval"
                self.plane.admin.ask("PUT", path, request)

    def _end(self) -> None:
        if self.plane is not None:
            self._in(self.plane.stop)
        assert self._thread is not None
        self._thread.shutdown()

    # --- the controller's pod -----------------------------------------------------------------------------------------

    def _start_controller(self, machine: Machine) -> None:
        """As the kubelet of a master would start it from the Job that the installer brought."""
        environment, token, account = self._in(self._controllers_pod)
        root = self._folder / "controller"
        for name, content in {
            "etc/assisted-installer-controller/token": token,
            f"{ACCOUNT}/token": account,
            f"{ACCOUNT}/ca.crt": self._authorities(),
            "tmp/.keep": "",
        }.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(content)
        self._controller_on = machine.name
        machine.start(
            "controller",
            BINARIES / "firstlight-controller",
            KUBERNETES_SERVICE_HOST=f"api-int.{self._domain}",
            KUBERNETES_SERVICE_PORT=str(API_PORT),
            FIRSTLIGHT_CONTROLLER_ROOT=str(root),
            FIRSTLIGHT_CONTROLLER_LOOK_SECONDS="0.5",
            **environment,
        )

    def _authorities(self) -> str:
        assert self.plane is not None
        return self.plane.tls("kube-apiserver-complete-server-ca-bundle.crt").read_text()

    def _controllers_pod(self) -> tuple[dict[str, str], str, str]:
        """Variables, the service's token and that of the pod's account."""
        assert self.plane is not None
        admin = self.plane.admin
        core = f"/api/v1/namespaces/{SPACE}"
        job = admin.get(f"/apis/batch/v1/namespaces/{SPACE}/jobs/{NAME}")
        [container] = job["spec"]["template"]["spec"]["containers"]
        found: dict[str, str] = {}
        for variable in container["env"]:
            reference = variable.get("valueFrom", {}).get("configMapKeyRef")
            if reference is None:
                found[variable["name"]] = variable.get("value", "")
            else:
                found[variable["name"]] = admin.get(f"{core}/configmaps/{reference['name']}")["data"][reference["key"]]
        secret = admin.get(f"{core}/secrets/{NAME}-secret").get("data", {}).get("pull-secret-token", "")
        return found, base64.b64decode(secret).decode(), account_token(admin, NAME, namespace=SPACE)

    # --- what tests look at -------------------------------------------------------------------------------------------

    def nodes(self) -> dict[str, Json]:
        if self.plane is None or self._starting is None or not self._starting.done():
            return {}
        admin = self.plane.admin
        return {node["metadata"]["name"]: node for node in self._in(lambda: admin.get("/api/v1/nodes"))["items"]}

    def settle_operators(self, router: str) -> None:
        """The operators of OpenShift have done their work."""
        assert self.plane is not None
        admin = self.plane.admin

        def settle() -> None:
            put_operator(admin, "version", Available=True, Progressing=False)
            put_operator(admin, "console", Degraded=False, Available=True)
            put_router_certificate(admin, router)

        self._in(settle)


def is_ready(node: Json) -> bool:
    conditions = node.get("status", {}).get("conditions", [])
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def _retried(work: Callable[[], None]) -> None:
    """New kinds take a moment to be served."""

    def holds() -> bool:
        try:
            work()
        except StopIteration:
            return False
        return True

    wait_for(holds, what="the kind is served")
