"""What the controller is told, how it reaches its cluster, and what its log keeps to itself."""

import base64
import json
from pathlib import Path

import pytest

from firstlight.core.errors import Invalid
from firstlight.host.controller.kube.access import Access, from_kubeconfig, in_cluster
from firstlight.host.controller.log import Log
from firstlight.host.controller.running import Controller
from firstlight.host.controller.service import RefusedIt
from firstlight.host.controller.settings import controller_settings
from firstlight.host.controller.yaml_text import read_documents
from firstlight.host.main import run
from firstlight.host.root import Root

WANTED = {
    "CLUSTER_ID": "11111111-2222-3333-4444-555555555555",
    "INVENTORY_URL": "https://service.example.com/",
    "OPENSHIFT_VERSION": "4.18.4",
}


def put(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


def test_a_mounted_token_wins_even_empty(tmp_path: Path) -> None:
    environment = {**WANTED, "PULL_SECRET_TOKEN": "from-variable"}
    root = Root(tmp_path)
    assert controller_settings(environment, root=root).token == "from-variable"
    put(tmp_path, "etc/assisted-installer-controller/token", "from-file\n")
    assert controller_settings(environment, root=root).token == "from-file"
    put(tmp_path, "etc/assisted-installer-controller/token", "")
    settings = controller_settings(environment, root=root)
    assert settings.token == ""
    assert settings.service_url == "https://service.example.com"
    assert "from" not in repr(settings)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CLUSTER_ID", ""),
        ("CLUSTER_ID", "mine"),
        ("INVENTORY_URL", ""),
        ("CONTROL_PLANE_COUNT", "many"),
        ("CONTROL_PLANE_COUNT", "0"),
        ("CHECK_CLUSTER_VERSION", "perhaps"),
    ],
)
def test_wrong_variables_are_named(name: str, value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    environment = {**WANTED, name: value, "FIRSTLIGHT_CONTROLLER_ROOT": str(tmp_path)}
    assert run(["/usr/bin/firstlight-controller"], environment) == 2
    assert name in capsys.readouterr().err


def test_the_bootstrap_kubeconfig_comes_first(tmp_path: Path) -> None:
    environment = {**WANTED, "KUBECONFIG": "/elsewhere"}
    assert controller_settings(environment, root=Root(tmp_path)).kubeconfig == Path("/elsewhere")
    put(tmp_path, "tmp/bootstrap-secrets/kubeconfig", "{}")
    found = controller_settings(environment, root=Root(tmp_path)).kubeconfig
    assert found == tmp_path / "tmp/bootstrap-secrets/kubeconfig"


def test_in_a_pod(tmp_path: Path) -> None:
    account = "var/run/secrets/kubernetes.io/serviceaccount"
    environment = {"KUBERNETES_SERVICE_HOST": "fd02::1", "KUBERNETES_SERVICE_PORT": "443"}
    with pytest.raises(Invalid):
        in_cluster(environment, root=Root(tmp_path))
    put(tmp_path, f"{account}/token", "first\n")
    access = in_cluster(environment, root=Root(tmp_path))
    assert access.server == "https://[fd02::1]:443"
    assert access.token is not None
    assert access.token() == "first"
    put(tmp_path, f"{account}/token", "renewed")
    assert access.token() == "renewed"


def test_kubeconfig_in_yaml(tmp_path: Path) -> None:
    put(tmp_path, "client.pem", "CERTIFICATE")
    data = base64.b64encode(b"KEY").decode()
    text = f"""
current-context: b
clusters: [{{name: two, cluster: {{server: "https://api.example.com:6443/"}}}}]
users: [{{name: me, user: {{client-certificate: client.pem, client-key-data: {data}}}}}]
contexts: [{{name: a, context: {{cluster: one}}}}, {{name: b, context: {{cluster: two, user: me}}}}]
"""
    access = from_kubeconfig(text, folder=tmp_path)
    assert (access.server, access.certificate, access.key) == ("https://api.example.com:6443", "CERTIFICATE", "KEY")


@pytest.mark.parametrize("text", ["", "[]", "a: [", '{"current-context": "x"}', '{"clusters": 5}'])
def test_kubeconfigs_that_are_none(text: str) -> None:
    with pytest.raises(Invalid):
        from_kubeconfig(text)


def test_documents_in_one_text() -> None:
    joined = "\n---\n".join(json.dumps({"number": number}) for number in range(3))
    assert read_documents(joined) == [{"number": 0}, {"number": 1}, {"number": 2}]
    assert read_documents("a: 1\n---\n---\nb: 2\n") == [{"a": 1}, {"b": 2}]


def test_the_log_keeps_secrets_and_repeats_nothing(tmp_path: Path) -> None:
    log = Log(file=tmp_path / "log", secrets=("hush", ""), quiet=True)
    for _ in range(3):
        log.once("subject", "The token hush is refused.")
    assert log.text().decode().count("***") == 1
    assert "hush" not in (tmp_path / "log").read_text()


@pytest.mark.parametrize(
    ("answers", "over"),
    [
        ((404, 404), False),
        ((404, 404, 404), True),
        ((401, 401), False),
        ((401, 401, 401), True),
        ((404, 401, 404), True),
        ((401, 401, 503, 401), False),
        ((500,) * 9, False),
    ],
)
def test_when_the_service_wants_nothing_more_of_us(answers: tuple[int, ...], over: bool, tmp_path: Path) -> None:
    settings = controller_settings(WANTED, root=Root(tmp_path))
    access = Access(server="https://127.0.0.1:1")
    controller = Controller(settings, access, log=Log(quiet=True), root=Root(tmp_path))
    assert [controller.is_over(RefusedIt(status, "")) for status in answers][-1] is over
