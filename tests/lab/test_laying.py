"""The stand-in that writes all over a machine stays away from real ones."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lab.cluster.laying import lay_over

CONFIG = {
    "ignition": {"version": "3.2.0"},
    "storage": {
        "files": [
            {"path": "/opt/openshift/tls/root-ca.crt", "mode": 0o600, "contents": {"source": "data:,one%20two"}},
            {"path": "/etc/motd", "contents": {"source": "data:;base64,dGhyZWU="}},
        ]
    },
    "systemd": {"units": [{"name": "bootkube.service", "contents": "[Unit]\n"}, {"name": "masked.service"}]},
}


def test_files_and_units(tmp_path: Path) -> None:
    assert lay_over(CONFIG, tmp_path) == 3
    secret = tmp_path / "opt/openshift/tls/root-ca.crt"
    assert (secret.read_text(), secret.stat().st_mode & 0o777) == ("one two", 0o600)
    assert (tmp_path / "etc/motd").read_text() == "three"
    assert [one.name for one in (tmp_path / "etc/systemd/system").iterdir()] == ["bootkube.service"]


def test_only_what_lies_below(tmp_path: Path) -> None:
    assert lay_over(CONFIG, tmp_path, below="/opt/openshift/") == 1
    assert not (tmp_path / "etc").exists()


def test_links_are_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "root/etc").mkdir(parents=True)
    (tmp_path / "elsewhere").write_text("mine")
    (tmp_path / "root/etc/motd").symlink_to(tmp_path / "elsewhere")
    lay_over(CONFIG, tmp_path / "root")
    assert (tmp_path / "elsewhere").read_text() == "mine"


@pytest.mark.parametrize("own", ["", "/", "folder"])
def test_it_is_refused_outside_the_laboratory(tmp_path: Path, own: str) -> None:
    (tmp_path / "folder/opt").mkdir(parents=True)
    config = tmp_path / "config.ign"
    # Should it not be refused, it finds nothing to write.
    config.write_text('{"ignition": {"version": "3.2.0"}}')
    room = str(tmp_path / own) if own == "folder" else own
    done = subprocess.run(
        [sys.executable, "-m", "lab.cluster.laying", "start", "--once-from", config],
        env={**os.environ, "LAB_OWN": room, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "it is refused" in done.stderr
