"""The controller's objects: the names others look for, its rights, and where its secrets go."""

from pathlib import Path
from uuid import UUID

import msgspec
import pytest

from firstlight.core.install.controller_manifests import ControllerJob, controller_manifests
from firstlight.core.install.controller_rights import CLUSTER_RULES, FOREIGN_RULES, OWN_RULES
from firstlight.core.install.documents import Document
from firstlight.host.controller.settings import ControllerSettings, controller_settings
from firstlight.host.root import Root

JOB = ControllerJob(
    image="registry.example.com/firstlight-controller:1",
    cluster_id="11111111-2222-3333-4444-555555555555",
    service_url="https://service.example.com",
    openshift_version="4.18.4",
    token="very-secret",
)


def documents(job: ControllerJob) -> list[Document]:
    return [document for one in controller_manifests(job) for document in one.documents]


def the_job(job: ControllerJob) -> Document:
    return next(one for one in documents(job) if one["kind"] == "Job")


def pod(job: ControllerJob) -> Document:
    return the_job(job)["spec"]["template"]["spec"]


def test_names_that_others_look_for() -> None:
    found = {(one["kind"], one["metadata"]["name"]) for one in documents(JOB)}
    own = "assisted-installer-controller"
    assert found >= {
        ("Namespace", "assisted-installer"),
        ("NetworkPolicy", "assisted-installer-network-policy"),
        ("ConfigMap", f"{own}-config"),
        ("Secret", f"{own}-secret"),
        *((kind, own) for kind in ("ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Job")),
    }
    template = the_job(JOB)["spec"]["template"]
    assert template["metadata"]["labels"] == {"app": own, "job-name": own}
    files = [one.name for one in controller_manifests(JOB)]
    assert len(files) == len(set(files))


def test_no_right_to_delete_or_to_do_anything_at_all() -> None:
    rules = [*CLUSTER_RULES, *OWN_RULES, *(rule for _, listed in FOREIGN_RULES for rule in listed)]
    verbs = {verb for rule in rules for verb in rule["verbs"]}
    assert verbs == {"get", "list", "watch", "create", "patch", "update", "approve", "use"}
    words = {word for rule in rules for key in ("apiGroups", "resources") for word in rule[key]}
    assert "*" not in words
    assert "secrets" not in words
    everywhere = [rule for rule in CLUSTER_RULES if "create" in rule["verbs"] or "configmaps" in rule["resources"]]
    assert everywhere == []


def cluster_rules(job: ControllerJob) -> list[Document]:
    return next(one for one in documents(job) if one["kind"] == "ClusterRole")["rules"]


@pytest.mark.parametrize(
    ("image", "ours"),
    [
        ("localhost/firstlight-controller:1.0", True),
        ("mirror.example.com:5000/a/firstlight/controller@sha256:00", True),
        ("quay.io/edge-infrastructure/assisted-installer-controller:latest", False),
        ("firstlight.example.com/mirror/assisted-installer-controller", False),
    ],
)
def test_the_originals_controller_gets_what_it_needs(image: str, ours: bool) -> None:
    rules = cluster_rules(msgspec.structs.replace(JOB, image=image))
    deletes = {name for rule in rules if "delete" in rule["verbs"] for name in rule["resources"]}
    assert deletes == (set() if ours else {"services", "jobs", "subscriptions", "installplans"})
    everywhere = {name for rule in rules if "get" in rule["verbs"] for name in rule["resources"]}
    assert ("configmaps" in everywhere) is not ours


def test_the_token_is_in_the_secret_only() -> None:
    holders = [one.documents[0]["kind"] for one in controller_manifests(JOB) if "very-secret" in one.content]
    assert holders == ["Secret"]


@pytest.mark.parametrize("count", [1, 3])
def test_a_single_node_starts_before_its_network(count: int) -> None:
    found = pod(msgspec.structs.replace(JOB, control_plane_count=count))
    taints = {one["key"] for one in found["tolerations"]}
    volumes = {one["name"] for one in found["volumes"]}
    assert ("node.kubernetes.io/not-ready" in taints) is (count == 1)
    assert ("bootstrap-secrets" in volumes) is (count == 1)


def test_where_the_service_is() -> None:
    job = msgspec.structs.replace(JOB, service_addresses=("192.0.2.7",), ca_path="/etc/assisted-service/ca.crt")
    found = pod(job)
    assert found["hostAliases"] == [{"ip": "192.0.2.7", "hostnames": ["assisted-api.local.openshift.io"]}]
    mounts = found["containers"][0]["volumeMounts"]
    assert "/etc/assisted-service/ca.crt" in {one["mountPath"] for one in mounts}
    assert "hostAliases" not in pod(JOB)


ENVIRONMENT = {
    # What the original's controller reads; the token is a file.
    "CLUSTER_ID",
    "INVENTORY_URL",
    "OPENSHIFT_VERSION",
    "SKIP_CERT_VERIFICATION",
    "CA_CERT_PATH",
    "NAMESPACE",
    "CONTROL_PLANE_COUNT",
    "CHECK_CLUSTER_VERSION",
    "MUST_GATHER_IMAGE",
    "NOTIFY_NUM_REBOOTS",
}


def test_the_job_tells_the_controller_everything(tmp_path: Path) -> None:
    """As the kubelet would start it: variables out of the ConfigMap, the token out of the mounted secret."""
    job = msgspec.structs.replace(
        JOB,
        insecure=True,
        ca_path="/etc/ca.crt",
        check_cluster_version=True,
        control_plane_count=5,
        must_gather_image='{"ocp": "a", "cnv": "b"}',
        notify_reboots=True,
    )
    by_kind = {one["kind"]: one for one in documents(job)}
    container = pod(job)["containers"][0]
    variables = {}
    for one in container["env"]:
        chosen = one.get("valueFrom", {}).get("configMapKeyRef", {})
        assert chosen.get("name", "assisted-installer-controller-config") == by_kind["ConfigMap"]["metadata"]["name"]
        variables[one["name"]] = one["value"] if "value" in one else by_kind["ConfigMap"]["data"][chosen["key"]]
    assert set(variables) == ENVIRONMENT
    mount = next(one for one in container["volumeMounts"] if one["name"] == "token")
    volume = next(one for one in pod(job)["volumes"] if one["name"] == "token")["secret"]
    assert volume["secretName"] == by_kind["Secret"]["metadata"]["name"]
    for item in volume["items"]:
        file = tmp_path / mount["mountPath"].removeprefix("/") / item["path"]
        file.parent.mkdir(parents=True)
        file.write_text(by_kind["Secret"]["stringData"][item["key"]])
    assert controller_settings(variables, root=Root(tmp_path)) == ControllerSettings(
        cluster_id=UUID(job.cluster_id),
        service_url=job.service_url,
        openshift_version=job.openshift_version,
        token=job.token,
        insecure=True,
        ca_certificate=Path("/etc/ca.crt"),
        control_plane_count=5,
        check_cluster_version=True,
        must_gather_image=job.must_gather_image,
        notify_reboots=True,
    )
