"""What follows from the facts and the time alone: (state, now) in, a Decision out, and when to look again."""

from firstlight.core.evaluate.cluster import evaluate_cluster
from firstlight.core.evaluate.memo import Memo
from firstlight.core.evaluate.pool import evaluate_pool_host
from firstlight.core.evaluate.surroundings import Surroundings

__all__ = ["Memo", "Surroundings", "evaluate_cluster", "evaluate_pool_host"]
