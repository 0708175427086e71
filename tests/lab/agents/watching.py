"""What the service says about the laboratory's cluster, asked from inside its network, and how soon it says it."""

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

import httpx2

from tests.clients.sdk import Sdk
from tests.namespaces import enter

T = TypeVar("T")
PAUSE = 0.1
V1 = "/api/firstlight"

Told = tuple[str, str, str]
"""Check, cause, name of the host; empty for the cluster itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    check: str
    cause: str
    host: str
    text: str
    """Message and evidence."""
    measured_at: datetime | None

    @property
    def told(self) -> Told:
        return (self.check, self.cause, self.host)


class Watcher:
    """Calls from a thread that lives in the services' namespace."""

    def __init__(self, namespace: str, *, url: str) -> None:
        self._thread = ThreadPoolExecutor(1, initializer=enter, initargs=(namespace,))
        self.url = url
        self.cluster_id = ""
        self._client = self.call(lambda: httpx2.Client(base_url=url, timeout=20, trust_env=False))
        self.sdk: Sdk = self.call(lambda: Sdk(f"{url}/api/assisted-install"))

    def call(self, work: Callable[[], T]) -> T:
        return self._thread.submit(work).result()

    def get(self, path: str) -> Any:
        answer = self.call(lambda: self._client.get(path))
        answer.raise_for_status()
        return answer.json()

    def post(self, path: str, body: object) -> Any:
        answer = self.call(lambda: self._client.post(path, json=body))
        answer.raise_for_status()
        return answer.json()

    def is_ready(self) -> bool:
        """Whether the service answers at all."""
        try:
            return self.call(lambda: self._client.get("/ready")).status_code == 200
        except httpx2.TransportError:
            return False

    def close(self) -> None:
        self.call(self._client.close)
        self._thread.shutdown()

    # --- the cluster --------------------------------------------------------------------------------------------------

    @property
    def cluster(self) -> Any:
        return self.call(lambda: self.sdk.installer.v2_get_cluster(self.cluster_id))

    def statuses(self) -> dict[str, str]:
        """Status of each host by its name, and of the cluster under the empty one."""
        cluster = self.cluster
        hosts = {host.requested_hostname or host.id: host.status for host in cluster.hosts}
        return {"": cluster.status, **hosts}

    def problems(self) -> list[Problem]:
        rows = self.get(f"{V1}/v1/clusters/{self.cluster_id}/problems")
        return [
            Problem(
                check=row["check"],
                cause=row["cause"],
                host=case["host_name"],
                text=f"{case['message']} {case['evidence']}",
                measured_at=_moment(case["measured_at"]),
            )
            for row in rows
            for case in row["cases"]
        ]


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).astimezone(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    fault: str
    noticed: float
    """Seconds from the fault to the finding."""
    judged: float
    """Seconds from the newest measurement it rests on to the finding."""
    vanished: float
    """Seconds from the end of the fault to the end of the finding."""


def table(timings: Iterable[Timing]) -> str:
    rows = [f"{'fault':<32}{'to finding':>12}{'from measurement':>18}{'to vanish':>12}"]
    for row in timings:
        rows.append(f"{row.fault:<32}{row.noticed:>10.1f} s{row.judged:>16.2f} s{row.vanished:>10.1f} s")
    return "\n".join(rows)


def wait_for(
    watcher: Watcher, expected: Mapping[Told, tuple[str, ...]], *, seconds: float, others: bool = True
) -> tuple[list[Problem], datetime]:
    """Until exactly these findings are told, each with its words; the findings and when all of them were there.

    Without `others` no other finding may be told even for a moment.
    """
    end, complete = time.monotonic() + seconds, None
    while True:
        found, seen = watcher.problems(), datetime.now(UTC)
        strays = [problem for problem in found if problem.told not in expected]
        assert others or not strays, strays
        lacking = set(expected) - {problem.told for problem in found}
        unsaid = [
            problem for problem in found if not all(word in problem.text for word in expected.get(problem.told, ()))
        ]
        complete = None if lacking or unsaid else complete or seen
        if complete and not strays:
            # That nothing is told is true when the last finding is gone.
            return found, complete if expected else seen
        assert time.monotonic() < end, f"missing {lacking}, unexpected {strays}, told otherwise {unsaid}"
        time.sleep(PAUSE)


def stays(watcher: Watcher, expected: Iterable[Told], *, seconds: float) -> None:
    """While machines measure again, nothing comes and nothing goes."""
    end, wanted = time.monotonic() + seconds, set(expected)
    while time.monotonic() < end:
        found = watcher.problems()
        assert {problem.told for problem in found} == wanted, found
        time.sleep(PAUSE)


def wait_for_statuses(watcher: Watcher, expected: dict[str, str], *, seconds: float) -> None:
    end = time.monotonic() + seconds
    while (found := watcher.statuses()) != expected:
        assert time.monotonic() < end, f"{found} after {seconds:g} seconds, with {watcher.problems()}"
        time.sleep(0.2)
