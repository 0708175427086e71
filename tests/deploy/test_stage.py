"""What is laid out for our images: names for every program, and nothing twice."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from firstlight.host.main import ROLES

STAGE = Path(__file__).resolve().parents[2] / "deploy/stage.py"
IMAGES = runpy.run_path(str(STAGE))["IMAGES"]


def test_every_role_has_a_name_in_exactly_one_image() -> None:
    """The name `agent` is the launcher's, which knows where it is."""
    names = [name for image in IMAGES.values() for name in image.names]
    assert sorted([*names, "agent"]) == sorted(ROLES)
    assert [image.launcher for image in IMAGES.values()] == [name == "agent" for name in IMAGES]


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The two images whose programs are on every machine."""
    folder = tmp_path_factory.mktemp("staged") / "images"
    subprocess.run([sys.executable, STAGE, folder, "installer", "controller"], check=True)
    return folder


def test_images_have_only_names_of_their_own(staged: Path) -> None:
    for image in ("installer", "controller"):
        own = {file.name for file in (staged / image).rglob("*") if not file.is_dir()}
        assert own == set(IMAGES[image].names)


@pytest.mark.parametrize(
    ("name", "missing"), [("installer", "cluster-id"), ("assisted-installer-controller", "CLUSTER_ID")]
)
def test_the_programs_import_nothing_from_outside(staged: Path, name: str, missing: str) -> None:
    """By the staged interpreter and library alone, each gets as far as asking for what it was not told."""
    program = f"import sys; sys.argv = [{name!r}]; from firstlight.host.main import main; main()"
    python = staged / "shared/usr/bin/python3"
    done = subprocess.run([python, "-IS", "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert missing in done.stderr


def test_the_controller_reads_what_clusters_write(staged: Path) -> None:
    """Kubeconfigs and install-configs are YAML, which is read only when one comes."""
    program = (
        "from firstlight.host.controller.install_config import read_install_config\n"
        "print(read_install_config('platform:\\n  baremetal: {}\\n').platform_type)"
    )
    python = staged / "shared/usr/bin/python3"
    done = subprocess.run([python, "-IS", "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "baremetal\n", done.stderr
