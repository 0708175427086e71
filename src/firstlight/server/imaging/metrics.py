"""What the image service counts, under the names the original has for it, and what the original does not count."""

from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest
from prometheus_client.core import HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

PREFIX: Final = "assisted_image_service"
LABELS: Final = ("service", "handler", "method", "code")
SECONDS: Final = (0.1, 1.0, 10.0, 50.0, 100.0, 300.0, 600.0)
BYTES: Final = (100.0, 1e6, 5e8, 1e9, 1e10)


class _Tally:
    """One histogram. The library's own costs more than a small answer: virtual media ask for thousands of them."""

    __slots__ = ("counts", "limits", "total")

    def __init__(self, limits: tuple[float, ...]) -> None:
        self.limits = limits
        self.counts = [0] * (len(limits) + 1)
        self.total = 0.0

    def add(self, value: float) -> None:
        self.counts[bisect_left(self.limits, value)] += 1
        self.total += value

    def buckets(self) -> list[tuple[str, float]]:
        names = [*(str(limit) for limit in self.limits), "+Inf"]
        return [(name, float(sum(self.counts[: place + 1]))) for place, name in enumerate(names)]


class Metrics(Collector):
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.registry.register(self)
        self._requests: dict[tuple[str, bytes, int], tuple[_Tally, _Tally]] = {}
        self.inflight = Gauge(
            "http_requests_inflight",
            "Connections under way.",
            ("service", "handler"),
            namespace=PREFIX,
            registry=self.registry,
        )
        self.upstream = Counter(
            "upstream_requests", "Calls to the API.", ("code",), namespace=PREFIX, registry=self.registry
        )
        self.base_images = Gauge(
            "base_images", "Base images by state.", ("state",), namespace=PREFIX, registry=self.registry
        )
        self.disk_bytes = Gauge("disk_bytes", "What base images occupy.", namespace=PREFIX, registry=self.registry)

    def request(self, handler: str, method: bytes, code: int, *, seconds: float, sent: int) -> None:
        key = (handler, method, code)
        found = self._requests.get(key)
        if found is None:
            # Methods are the caller's words: only two of them get a place of their own.
            named = b"HEAD" if method == b"HEAD" else b"GET"
            found = self._requests.setdefault((handler, named, code), (_Tally(SECONDS), _Tally(BYTES)))
        found[0].add(seconds)
        found[1].add(sent)

    def collect(self) -> Iterator[Metric]:
        durations = HistogramMetricFamily(
            f"{PREFIX}_http_request_duration_seconds", "How long requests took.", labels=LABELS
        )
        sizes = HistogramMetricFamily(f"{PREFIX}_http_response_size_bytes", "How much was sent.", labels=LABELS)
        for (handler, method, code), (seconds, sent) in self._requests.items():
            labels = ("", handler, method.decode(), str(code))
            durations.add_metric(labels, buckets=seconds.buckets(), sum_value=seconds.total)
            sizes.add_metric(labels, buckets=sent.buckets(), sum_value=sent.total)
        yield durations
        yield sizes

    def text(self) -> bytes:
        return generate_latest(self.registry)
