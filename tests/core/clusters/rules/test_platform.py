"""What only the user's own manifests can bring."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.clusters.rules.platform import (
    custom_manifests_requirements_satisfied,
    overridden_network_type,
    platform_requirements_satisfied,
)
from firstlight.core.model.cluster import Platform
from firstlight.core.model.cluster_status import PlatformType
from firstlight.core.rules import Status
from tests.core.clusters.rules.cluster_examples import facts_of

CALICO = json.dumps({"networking": {"networkType": "Calico"}})
OVN = json.dumps({"Networking": {"NetworkType": "OVNKubernetes"}})


@pytest.mark.parametrize(
    ("changes", "good"),
    [
        pytest.param({}, True, id="usual"),
        *(pytest.param({"network_type": name}, False, id=name) for name in ("Cilium", "Calico", "CiscoACI", "None")),
        pytest.param({"network_type": "Cilium", "has_custom_manifests": True}, True, id="with-manifests"),
        pytest.param({"install_config_overrides": CALICO}, False, id="override-wins"),
        pytest.param({"network_type": "Calico", "install_config_overrides": OVN}, True, id="override-back"),
        pytest.param({"network_type": "Calico", "install_config_overrides": "{"}, False, id="broken-override"),
    ],
)
def test_custom_manifests(changes: dict[str, Any], good: bool) -> None:
    verdict = custom_manifests_requirements_satisfied(facts_of(**changes))
    assert verdict.status is (Status.SUCCESS if good else Status.FAILURE)


@pytest.mark.parametrize(
    ("platform", "manifests", "good"),
    [
        (Platform(), False, True),
        (Platform(type=PlatformType.EXTERNAL, external_name="oci"), False, False),
        (Platform(type=PlatformType.EXTERNAL, external_name="oci"), True, True),
        (Platform(type=PlatformType.EXTERNAL, external_name="other"), False, True),
        (Platform(type=PlatformType.NONE, external_name="oci"), False, True),
    ],
)
def test_oracle_cloud_needs_manifests(platform: Platform, manifests: bool, good: bool) -> None:
    verdict = platform_requirements_satisfied(facts_of(platform=platform, has_custom_manifests=manifests))
    assert verdict.status is (Status.SUCCESS if good else Status.FAILURE)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ""),
        (CALICO, "Calico"),
        (OVN, "OVNKubernetes"),
        ("[]", ""),
        ('{"networking": 3}', ""),
        ('{"networking": {"networkType": 3}}', ""),
        ('{"networking": {}}', ""),
        ("[" * 100_000, ""),
        ("\ud800", ""),
    ],
)
def test_overridden_network_type(text: str, found: str) -> None:
    assert overridden_network_type(text) == found


@given(st.text(max_size=50))
def test_overrides_never_raise(text: str) -> None:
    overridden_network_type(text)
