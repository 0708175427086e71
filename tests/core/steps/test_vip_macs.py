"""MAC addresses of the virtual addresses."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.steps.vip_macs import vip_mac


@given(st.uuids())
def test_macs_differ_by_name_and_stay(cluster_id: UUID) -> None:
    api, ingress = (vip_mac(cluster_id, name=name) for name in ("api", "ingress"))
    assert api.startswith("00:1a:4a:")
    assert len(api) == len(ingress) == 17
    assert api != ingress
    assert vip_mac(UUID(str(cluster_id)), name="api") == api
