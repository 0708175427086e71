"""The documents inside the `validations_info` strings: a list of these per category."""

from firstlight.core.wire.shape import Answer


class Validation(Answer, frozen=True, kw_only=True):
    """The outcome of one validation."""

    id: str
    status: str
    message: str
