"""Ignition of the running cluster and container images."""

import pytest

from firstlight.core.hosts.facts import HostFacts
from firstlight.core.model.cluster_status import ClusterKind
from firstlight.core.model.reports import ApiVipReply, ImageStatus
from firstlight.core.rules import Status
from tests.builders.facts import host_facts, pool_facts
from tests.builders.hosts import some_reports
from tests.core.hosts.rules.judging import FAILURE, PENDING, SUCCESS, SUPPRESSED, case, check, finding


def day_two(reply: ApiVipReply | None) -> HostFacts:
    return host_facts(reports=some_reports(api_vip=reply), cluster={"kind": ClusterKind.ADD_HOSTS})


FAILED = ApiVipReply(success=False, url="http://api.east.example.com:22624/config/worker", error="refused")


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("day-1", host_facts(), SUPPRESSED),
        case("pool", pool_facts(), SUPPRESSED),
        case("not-tried", day_two(None), PENDING, "no-ignition"),
        case("fetched", day_two(ApiVipReply(success=True)), SUCCESS),
        case("failed", day_two(FAILED), FAILURE, "ignition-not-downloadable"),
        case("failed-silently", day_two(ApiVipReply(success=False)), FAILURE, "ignition-not-downloadable"),
    ],
)
def test_ignition_downloadable(facts: HostFacts, status: Status, cause: str) -> None:
    check("ignition-downloadable", facts, status, cause)


def test_the_failed_download_is_told() -> None:
    found = finding("ignition-downloadable", day_two(FAILED))
    assert FAILED.url in found.message
    assert "refused" in found.message
    assert "from" not in finding("ignition-downloadable", day_two(ApiVipReply(success=False))).message


def image(*, success: bool = True, size: float = 3e8, rate: float = 20.0) -> HostFacts:
    status = ImageStatus(success=success, size_bytes=size, megabytes_per_second=rate)
    return host_facts(reports=some_reports(images={"quay.io/a:1": status}))


@pytest.mark.parametrize(
    ("facts", "status", "cause"),
    [
        case("not-reported", host_facts(), SUCCESS),
        case("none-reported", host_facts(reports=some_reports(images={})), SUCCESS),
        case("fetched", image(), SUCCESS),
        case("failed", image(success=False), FAILURE, "images-unavailable"),
        case("crawling", image(rate=0.00099), FAILURE, "images-unavailable"),
        case("just-fast-enough", image(rate=0.001), SUCCESS),
        case("already-there", image(size=0.0, rate=0.0), SUCCESS),
    ],
)
def test_container_images_available(facts: HostFacts, status: Status, cause: str) -> None:
    check("container-images-available", facts, status, cause)


def test_missing_images_are_named_in_order() -> None:
    bad = ImageStatus(success=False)
    facts = host_facts(reports=some_reports(images={"b": bad, "c": ImageStatus(success=True), "a": bad}))
    assert finding("container-images-available", facts).evidence["images"] == ["a", "b"]
