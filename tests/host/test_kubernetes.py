"""The small Kubernetes client against a server that asks for certificates."""

import base64
import ssl
from pathlib import Path

import pytest

from firstlight.host.kubernetes import Kube, KubeTrouble, name_of, read_kubeconfig
from tests.host.agent.authorities import authority_and_server
from tests.host.agent.scripted import Asked, Said, document, scripted
from tests.host.installer.planes import kubeconfig


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize("as_json", [False, True])
def test_both_forms_are_read(as_json: bool) -> None:
    config = read_kubeconfig(kubeconfig("https://api-int.example.com:6443", "PEM", as_json=as_json))
    assert config.server == "https://api-int.example.com:6443"
    assert config.authority == "PEM"
    assert "PEM" not in repr(config)


@pytest.mark.parametrize("text", ["", "server: http://plain", "server: https://a\nclient-key-data: ä", "{"])
def test_what_is_no_kubeconfig(text: str) -> None:
    with pytest.raises(KubeTrouble):
        read_kubeconfig(text)


def with_pair(text: str, pair: str) -> str:
    """The same kubeconfig with a user who has a certificate."""
    key, _, certificate = pair.partition("-----BEGIN CERTIFICATE")
    values = {"client-certificate-data": f"-----BEGIN CERTIFICATE{certificate}", "client-key-data": key}
    lines = [f"    {name}: {base64.b64encode(value.encode()).decode()}" for name, value in values.items()]
    return text.replace("  user: {}", "\n".join(["  user:", *lines]))


@pytest.mark.anyio
async def test_a_user_with_a_certificate(tmp_path: Path) -> None:
    pem, context = authority_and_server(tmp_path)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(pem)

    def answers(asked: Asked) -> Said:
        if asked.path == "/api/v1/nodes":
            return document({"items": [{"metadata": {"name": "one"}}]})
        return Said(404 if asked.path == "/missing" else 500)

    async with scripted(answers, tls=context) as server:
        text = kubeconfig(server.url, pem.read_text())
        async with Kube(read_kubeconfig(with_pair(text, (tmp_path / "server.pem").read_text()))) as kube:
            assert [name_of(item) for item in await kube.items("/api/v1/nodes")] == ["one"]
            assert await kube.get("/missing") is None
            with pytest.raises(KubeTrouble, match="answered 500"):
                await kube.get("/broken")
            with pytest.raises(KubeTrouble, match="no missing yet"):
                await kube.items("/missing")
        async with Kube(read_kubeconfig(text)) as stranger:
            with pytest.raises(KubeTrouble, match="cannot be reached"):
                await stranger.items("/api/v1/nodes")
