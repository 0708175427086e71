"""Whoever makes keys and certificates for a new cluster. Both take seconds of CPU: call them from a worker thread."""

from datetime import datetime
from typing import Protocol

from firstlight.core.install.certificates import Certificates
from firstlight.core.install.cluster_inputs import ClusterInputs
from firstlight.core.install.identity import Identity


class Pki(Protocol):
    def make_identity(self, cluster_name: str) -> Identity:
        """A new cluster id, infrastructure name and password."""
        ...

    def make_certificates(self, cluster: ClusterInputs, *, now: datetime) -> Certificates:
        """Everything in the cluster's certificate plan, valid from `now`."""
        ...
