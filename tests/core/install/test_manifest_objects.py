"""Objects in manifests: what is refused names its place, and what might be right passes."""

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from firstlight.core.errors import Invalid
from firstlight.core.install.cluster_manifests import cluster_manifests
from firstlight.core.install.documents import mapping
from firstlight.core.install.manifest_kinds import KINDS
from firstlight.core.install.manifest_objects import FileObjects, object_problems, require_distinct, require_objects
from firstlight.core.install.openshift_manifests import openshift_manifests
from firstlight.core.install.system_manifests import SystemSettings, system_manifests
from tests.core.install.clusters import a_cluster, a_single_node
from tests.core.install.installations import an_installation
from tests.core.operators.test_operator_manifests import OPERATORS, documents_of, files_of

MACHINES = "machineconfiguration.openshift.io/v1"


def an_object(kind: str = "ConfigMap", api_version: str = "v1", name: str = "a", **parts: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **parts}


def a_machine_config(config: object = None, **spec: Any) -> dict[str, Any]:
    return an_object("MachineConfig", MACHINES, spec={"config": config, **spec})


def ignition(version: object = "3.2.0", **parts: Any) -> dict[str, Any]:
    return {"ignition": {"version": version}, **parts}


def a_file(**changes: Any) -> dict[str, Any]:
    return {"storage": {"files": [{"path": "/etc/a", "contents": {"source": "data:,a"}} | changes]}}


GOOD: dict[str, dict[str, Any]] = {
    "a kind nobody knows": an_object("Thing", "example.com/v1alpha1", spec=[1, 2]),
    "a name from the cluster": {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "a-"}},
    "a name with colons": an_object("ClusterRole", "rbac.authorization.k8s.io/v1", "system:my:role"),
    "nulls": an_object(data=None, immutable=None) | {"metadata": {"name": "a", "labels": None, "namespace": None}},
    "members of a later version": an_object(data={"a": "b"}, later={"x": 1}),
    "a ConfigMap": an_object(data={"a": "b", "c": ""}, binaryData={"d": "AAE="}, immutable=True),
    "a Secret": an_object("Secret", data={"a": base64.b64encode(b"x" * 90).decode()}, stringData={"b": "c"}),
    "a Secret with lines in its base64": an_object("Secret", data={"a": "AAEC\nAwQF\n"}),
    "kernel arguments only": a_machine_config(kernelArguments=["nosmt"]),
    "an empty config": a_machine_config({}),
    "Ignition 3.2": a_machine_config(ignition(**a_file(mode=0o644))),
    "keys that are no text": a_machine_config(ignition(storage={1: "a", "files": [{"path": "/a", True: 1, None: 2}]})),
    "Ignition 3.1": a_machine_config(ignition("3.1.0")),
    "Ignition 3.4": a_machine_config(ignition("3.4.0", **a_file(mode=0o4755), kernelArguments={"shouldExist": ["a"]})),
    "Ignition 2.2": a_machine_config(ignition("2.2.0", storage={"files": [{"filesystem": "root", "path": "/a"}]})),
    "Ignition of the future": a_machine_config(ignition("3.9.0", storage=7)),
    "a kubelet": an_object(
        "KubeletConfig",
        MACHINES,
        spec={
            "machineConfigPoolSelector": {"matchExpressions": [{"key": "a", "operator": "Exists"}]},
            "kubeletConfig": {"maxPods": 500, "systemReserved": {"cpu": "1"}},
        },
    ),
    "a container runtime": an_object(
        "ContainerRuntimeConfig", MACHINES, spec={"containerRuntimeConfig": {"pidsLimit": 2048, "logSizeMax": -1}}
    ),
    "mirrors": an_object(
        "ImageDigestMirrorSet",
        "config.openshift.io/v1",
        spec={"imageDigestMirrors": [{"source": "quay.io/a", "mirrors": ["mirror:5000/a"]}]},
    ),
    "old mirrors without a mirror": an_object(
        "ImageContentSourcePolicy",
        "operator.openshift.io/v1alpha1",
        spec={"repositoryDigestMirrors": [{"source": "quay.io/a"}]},
    ),
    "a group for all namespaces": an_object("OperatorGroup", "operators.coreos.com/v1"),
    "a list": {"apiVersion": "v1", "kind": "List", "items": [an_object(), an_object(name="b")]},
    "somebody else's Secret": an_object("Secret", "example.com/v1", data={"a": 7}),
}


@pytest.mark.parametrize("what", GOOD)
def test_what_might_be_right_passes(what: str) -> None:
    require_objects("a.yaml", [GOOD[what]])


BAD: list[tuple[dict[str, Any], str]] = [
    ({}, "apiVersion is missing; kind is missing; metadata is missing"),
    ({"kind": "A", "metadata": {"name": "a"}}, "apiVersion is missing"),
    (an_object() | {"apiVersion": 1}, "apiVersion must be text and is a number; put it in quotes"),
    (an_object(api_version="a/b/v1"), "apiVersion is 'a/b/v1', which is no version of an API"),
    (an_object(kind="Config Map"), "kind is 'Config Map', which is no kind"),
    (an_object() | {"metadata": {}}, "metadata.name is missing"),
    (an_object() | {"metadata": []}, "metadata must be a mapping and is a list"),
    (an_object(name="a/b"), "metadata.name is 'a/b', which no object can be called"),
    (an_object(name=""), "metadata.name must not be empty"),
    (an_object(name="x" * 254), "metadata.name is 'x"),
    (an_object() | {"metadata": {"name": "a", "namespace": "A_b"}}, "metadata.namespace is 'A_b', which is no name of"),
    (
        an_object() | {"metadata": {"name": "a", "labels": {"b": True}}},
        r"metadata.labels\[b\] must be text and is true or false; put it in quotes",
    ),
    (an_object(data={"port": 80}), r"data\[port\] must be text and is a number; put it in quotes"),
    (an_object(data=["a"]), "data must be a mapping and is a list"),
    (an_object(binaryData={"a": "ä"}), r"binaryData\[a\] must be base64"),
    (an_object("Secret", data={"password": "hunter2!"}), r"data\[password\] must be base64; plain text belongs into"),
    (an_object("Secret", stringData={"a": {}}), r"stringData\[a\] must be text and is a mapping"),
    (
        a_machine_config(ignition(**a_file(path="etc/a"))),
        r"spec\.config\.storage\.files\[0\]\.path 'etc/a' is not absolute",
    ),
    (a_machine_config(ignition(**a_file(mode="0644"))), r"spec\.config\.storage\.files\[0\]\.mode: Expected `int"),
    (a_machine_config(ignition("3.4.0", **a_file(path=1))), r"spec\.config\.storage\.files\[0\]\.path: Expected `str"),
    (a_machine_config(ignition(None)), r"spec\.config\.ignition\.version is missing"),
    (a_machine_config({"storage": {}}), r"spec\.config\.ignition\.version is missing"),
    (a_machine_config(ignition("1.0")), r"spec\.config\.ignition\.version is 1\.0"),
    (a_machine_config("text"), r"spec\.config must be a mapping and is text"),
    (a_machine_config(kernelArguments="nosmt"), r"spec\.kernelArguments must be a list and is text"),
    (a_machine_config(kernelArguments=["a", 1]), r"spec\.kernelArguments\[1\] must be text"),
    (a_machine_config(fips="yes"), r"spec\.fips must be true or false and is text"),
    (a_machine_config(kernelType="rt"), r"spec\.kernelType must be one of default, realtime, 64k-pages"),
    (an_object("KubeletConfig", MACHINES, spec={"kubeletConfig": []}), r"spec\.kubeletConfig must be a mapping"),
    (
        an_object("KubeletConfig", MACHINES, spec={"machineConfigPoolSelector": {"matchLabels": {"a": 1}}}),
        r"spec\.machineConfigPoolSelector\.matchLabels\[a\] must be text",
    ),
    (an_object("ContainerRuntimeConfig", MACHINES), "spec is missing"),
    (
        an_object("ContainerRuntimeConfig", MACHINES, spec={"containerRuntimeConfig": {"pidsLimit": "many"}}),
        r"spec\.containerRuntimeConfig\.pidsLimit must be a whole number and is text",
    ),
    (
        an_object(
            "ImageTagMirrorSet",
            "config.openshift.io/v1",
            spec={"imageTagMirrors": [{"source": "a"}, {"mirrors": ["b"]}]},
        ),
        r"spec\.imageTagMirrors\[1\]\.source is missing",
    ),
    (an_object("CatalogSource", "operators.coreos.com/v1alpha1", spec={}), r"spec\.sourceType is missing"),
    (
        an_object("Subscription", "operators.coreos.com/v1alpha1", spec={"name": "a", "source": "b"}),
        r"spec\.sourceNamespace is missing",
    ),
    (
        an_object("OperatorGroup", "operators.coreos.com/v1", spec={"targetNamespaces": "a"}),
        r"spec\.targetNamespaces must be a list and is text",
    ),
    (
        an_object("NodeNetworkConfigurationPolicy", "nmstate.io/v1", spec={"desiredState": "up"}),
        r"spec\.desiredState must be a mapping and is text",
    ),
    (
        {"apiVersion": "v1", "kind": "List", "items": [an_object(), an_object(data={"a": 1})]},
        r"items\[1\]\.data\[a\] must be text",
    ),
]


@pytest.mark.parametrize(("document", "reason"), BAD)
def test_what_cannot_work_is_refused_with_its_place(document: dict[str, Any], reason: str) -> None:
    with pytest.raises(Invalid, match=f"Manifest a.yaml cannot be used: .*{reason}"):
        require_objects("a.yaml", [document])


def test_every_problem_is_named_with_its_document_up_to_a_number() -> None:
    broken = an_object(data={str(number): number for number in range(12)})
    with pytest.raises(Invalid, match=r"document 2: data\[0\] .*document 2: data\[9\] .*; and 2 more\.$") as refusal:
        require_objects("a.yaml", [an_object(), broken])
    assert "data[10]" not in str(refusal.value)


VALUES = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text(max_size=5),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(some.sampled_from(sorted(KINDS)), VALUES, VALUES)
def test_any_document_is_judged_and_never_breaks_the_judge(kind: tuple[str, str], spec: object, data: object) -> None:
    group, name = kind
    document = an_object(name, f"{group}/v1" if group else "v1", spec=spec, data=data)
    for problem in object_problems(document):
        assert problem.startswith(("spec", "data"))


@given(some.dictionaries(some.text(max_size=10), VALUES, max_size=6))
def test_so_does_anything_at_all(document: dict[str, object]) -> None:
    assert list(object_problems(document)) or "kind" in document


def test_an_object_that_is_there_twice_is_named() -> None:
    one, other = an_object(name="x"), an_object(api_version="v1", name="y")
    require_distinct([FileObjects("a.yaml", [one]), FileObjects("b.yaml", [other])])
    with pytest.raises(Invalid, match=r"^ConfigMap x is in manifest a\.yaml and in b\.yaml\."):
        require_distinct([FileObjects("a.yaml", [one]), FileObjects("b.yaml", [other, one])])
    with pytest.raises(Invalid, match=r"^Manifest a\.yaml holds ConfigMap x twice"):
        require_distinct([FileObjects("a.yaml", [one, one])])
    with pytest.raises(Invalid, match="in manifest o2 and in a"):
        require_distinct([FileObjects("a.yaml", [one])], known=[FileObjects("ours", [one]), FileObjects("o2", [one])])


def test_namespaces_groups_and_kinds_tell_objects_apart_and_versions_do_not() -> None:
    base = an_object("Role", "rbac.authorization.k8s.io/v1", "x")
    elsewhere = base | {"metadata": {"name": "x", "namespace": "n"}}
    others = [an_object("Role", "example.com/v1", "x"), an_object("Pool", "rbac.authorization.k8s.io/v1", "x")]
    require_distinct([FileObjects("a.yaml", [base, elsewhere, *others])])
    older = base | {"apiVersion": "rbac.authorization.k8s.io/v1beta1"}
    with pytest.raises(Invalid, match="Role x twice"):
        require_distinct([FileObjects("a.yaml", [base, older])])


def test_our_own_manifests_would_be_accepted() -> None:
    for cluster in (a_cluster(), a_single_node()):
        installation = an_installation(cluster)
        ours = [*cluster_manifests(installation), *openshift_manifests(installation)]
        ours += [one for one in system_manifests(cluster, SystemSettings()) if one.documents]
        for one in ours:
            require_objects(one.name, one.documents)
        require_distinct([FileObjects(one.name, one.documents) for one in ours])


def test_those_of_every_operator_too() -> None:
    names = [operator if isinstance(operator, str) else operator.name for operator in OPERATORS]
    for file_name, document in files_of(*names).items():
        require_objects(file_name, [mapping(document)])
    for file_name, documents in documents_of(*names):
        require_objects(file_name, documents)
