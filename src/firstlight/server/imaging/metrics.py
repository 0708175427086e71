"""What the image service counts, under the names the original has for it, and what the original does not count."""

from functools import lru_cache
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

PREFIX: Final = "assisted_image_service"
LABELS: Final = ("service", "handler", "method", "code")


class Metrics:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._seconds = Histogram(
            "http_request_duration_seconds",
            "How long requests took.",
            LABELS,
            namespace=PREFIX,
            buckets=(0.1, 1, 10, 50, 100, 300, 600),
            registry=self.registry,
        )
        self._bytes = Histogram(
            "http_response_size_bytes",
            "How much was sent.",
            LABELS,
            namespace=PREFIX,
            buckets=(100, 1e6, 5e8, 1e9, 1e10),
            registry=self.registry,
        )
        self.inflight = Gauge(
            "http_requests_inflight",
            "Answers under way.",
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
        # Finding the children of a label costs more than counting: virtual media ask for thousands of small Ranges.
        self._children = lru_cache(maxsize=1024)(self._find_children)

    def _find_children(self, handler: str, method: str, code: int) -> tuple[Histogram, Histogram]:
        labels = ("", handler, method, str(code))
        return self._seconds.labels(*labels), self._bytes.labels(*labels)

    def request(self, handler: str, method: bytes, code: int, *, seconds: float, sent: int) -> None:
        durations, sizes = self._children(handler, "HEAD" if method == b"HEAD" else "GET", code)
        durations.observe(seconds)
        sizes.observe(sent)

    def text(self) -> bytes:
        return generate_latest(self.registry)
