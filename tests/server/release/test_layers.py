"""Layers that cannot be unpacked: whose fault it is decides whether another try makes sense."""

import lzma
from pathlib import Path

import pytest

from firstlight.core.errors import Invalid, Unavailable
from firstlight.server.release.layers import take
from tests.registries import layer


def test_a_full_disk_is_not_the_layers_fault(tmp_path: Path) -> None:
    (tmp_path / "layer").write_bytes(layer({"a": b"x" * 4096}))
    with pytest.raises(Unavailable, match="No space left"):
        take("a", tmp_path / "layer", to=Path("/dev/full"), most=10_000)


def test_a_damaged_layer_is(tmp_path: Path) -> None:
    packed = lzma.compress(layer({"b": bytes(range(256)) * 4000, "a": b"x"}))
    (tmp_path / "layer").write_bytes(packed[: len(packed) // 2] + b"\0" * (len(packed) // 2))
    with pytest.raises(Invalid, match="cannot be read"):
        take("a", tmp_path / "layer", to=tmp_path / "a", most=10_000)
