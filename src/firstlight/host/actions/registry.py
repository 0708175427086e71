"""Every step type this agent knows, by its name on the wire."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from firstlight.host.actions.action import Action

_KNOWN: Final[tuple[Action, ...]] = ()

ACTIONS: Final[Mapping[str, Action]] = MappingProxyType({action.step_type: action for action in _KNOWN})
