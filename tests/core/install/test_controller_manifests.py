"""The controller's objects: the names others look for, its rights, and where its secrets go."""

import msgspec
import pytest

from firstlight.core.install.controller_manifests import ControllerJob, controller_manifests
from firstlight.core.install.controller_rights import CLUSTER_RULES, FOREIGN_RULES, OWN_RULES
from firstlight.core.install.documents import Document

JOB = ControllerJob(
    image="registry.example.com/controller:1",
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
    assert template["metadata"]["labels"] == {"job-name": own}
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
