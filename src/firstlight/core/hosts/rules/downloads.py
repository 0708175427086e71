"""What the host must be able to fetch before it can be installed."""

from typing import Final

from firstlight.core.hosts.facts import HostFacts
from firstlight.core.hosts.rules.answers import is_day_two, listed, refused
from firstlight.core.model.reports import ImageStatus, ReportKind
from firstlight.core.rules import SUPPRESSED, Verdict, passed, pending

SLOWEST_MEGABYTES_PER_SECOND: Final = 0.001


def ignition_downloadable(facts: HostFacts) -> Verdict:
    if facts.context.cluster is None or not is_day_two(facts):
        return SUPPRESSED
    reply = facts.reports.api_vip
    if reply is None:
        return pending("The host has not tried to fetch the Ignition of the running cluster yet.", cause="no-ignition")
    if reply.success:
        return passed("The host can fetch the Ignition of the running cluster.")
    source = f" from {reply.url}" if reply.url else ""
    reason = f": {reply.error}" if reply.error else ""
    return refused(
        facts,
        f"The host could not fetch the Ignition of the running cluster{source}{reason}. Check that the host resolves"
        " and reaches the API of that cluster.",
        cause="ignition-not-downloadable",
        kind=ReportKind.API_VIP,
        evidence={"url": reply.url, "error": reply.error},
    )


def container_images_available(facts: HostFacts) -> Verdict:
    images = facts.reports.images or {}
    bad = sorted(name for name, status in images.items() if is_unavailable(status))
    if not bad:
        return passed("No container image is known to be out of reach.")
    return refused(
        facts,
        f"The host could not fetch these container images: {listed(bad)}. Check the pull secret, the proxy and that the"
        " registries can be reached, then start the installation again.",
        cause="images-unavailable",
        kind=ReportKind.IMAGES,
        evidence={"images": bad},
    )


def is_unavailable(status: ImageStatus) -> bool:
    """Failed, or so slow that it comes to the same."""
    too_slow = status.size_bytes > 0 and status.megabytes_per_second < SLOWEST_MEGABYTES_PER_SECOND
    return not status.success or too_slow
