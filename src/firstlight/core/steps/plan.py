"""The words of a plan. They are records, kept with the other records, because a host remembers its last plan."""

from firstlight.core.model.plan import Step, StepPlan, StepType

__all__ = ["Step", "StepPlan", "StepType"]
