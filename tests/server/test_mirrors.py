"""Mirrors and authorities from files of the operator: read once at start, given to every host and cluster."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from firstlight.core.errors import Invalid
from firstlight.core.install.install_config import install_config
from firstlight.server.composition import service_facts
from firstlight.server.settings import Settings
from firstlight.server.usecases.generated_files import inputs_of
from tests.api.calling import Client, an_app
from tests.api.machines import a_site
from tests.worlds import a_world, put_cluster

pytestmark = pytest.mark.anyio

CONF = """
[[registry]]
location = "quay.io/openshift-release-dev/ocp-release"
[[registry.mirror]]
location = "mirror.example.com:5000/ocp"
"""


def facts(folder: Path, **changes: Any) -> Any:
    return service_facts(Settings(data_dir=folder, **changes), link_key=b"")


async def test_hosts_and_clusters_are_given_them(tmp_path: Path) -> None:
    (tmp_path / "registries.conf").write_text(CONF)
    (tmp_path / "ca.pem").write_text("mirror ca")
    (tmp_path / "company.pem").write_text("company ca")
    known = facts(
        tmp_path,
        mirror_registries_conf=tmp_path / "registries.conf",
        mirror_registries_ca=tmp_path / "ca.pem",
        hosts_ca_path=tmp_path / "company.pem",
        accept_any_image=True,
        agent_timeout_start="7m",
    )
    service = {
        name: getattr(known, name) for name in ("mirrors", "hosts_ca", "accept_any_image", "agent_start_seconds")
    }
    async with a_world(tmp_path, **service) as world:
        site = await a_site(Client(an_app(world)), world)
        answer = await site.call("GET", f"{site.path}/downloads/files", query="file_name=discovery.ign")
        config = answer.json()
        files = {one["path"]: unquote(json.dumps(one["contents"])) for one in config["storage"]["files"]}
        assert "/etc/containers/registries.conf" in files
        assert "/etc/containers/policy.json" in files
        anchors = "/etc/pki/ca-trust/source/anchors"
        assert {f"{anchors}/domain.crt", f"{anchors}/rh-it-root-ca.crt"} <= {*files}
        (agent,) = [unit for unit in config["systemd"]["units"] if unit["name"] == "agent.service"]
        assert "TimeoutStartSec=420\n" in agent["contents"]
        inputs = await inputs_of(world, await put_cluster(world))
        assert install_config(inputs)["imageDigestSources"] == [
            {"source": "quay.io/openshift-release-dev/ocp-release", "mirrors": ["mirror.example.com:5000/ocp"]}
        ]
        assert "mirror ca" in str(install_config(inputs)["additionalTrustBundle"])


async def test_without_them_there_are_none(tmp_path: Path) -> None:
    known = facts(tmp_path)
    assert (known.mirrors, known.hosts_ca, known.agent_start_seconds) == (None, "", 600)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "FIRSTLIGHT_MIRROR_REGISTRIES_CONF names cannot be read: .*No such file"),
        (b"[[registry", "FIRSTLIGHT_MIRROR_REGISTRIES_CONF cannot be used. .*not valid TOML"),
        (b"unqualified-search-registries = ['quay.io']", "names no mirror"),
        (b"\xff\xfe", "cannot be read"),
    ],
)
async def test_files_that_cannot_be_used(tmp_path: Path, content: bytes | None, words: str) -> None:
    if content is not None:
        (tmp_path / "registries.conf").write_bytes(content)
    with pytest.raises(Invalid, match=words):
        facts(tmp_path, mirror_registries_conf=tmp_path / "registries.conf")
