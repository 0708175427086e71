"""Who is asking, in the words of the use cases."""

from typing import TypeVar

from firstlight.server.http.call import Call
from firstlight.server.usecases.caller import Caller

B = TypeVar("B")
Q = TypeVar("Q")


def user(call: Call[B, Q]) -> Caller:
    actor = call.actor
    return Caller(
        name=actor.user_name,
        request_id=call.request_id,
        org_id=actor.org_id,
        email_domain=actor.email_domain,
        is_admin=actor.is_admin,
    )


def agent(call: Call[B, Q]) -> Caller:
    return Caller(name="agent", request_id=call.request_id)


def controller(call: Call[B, Q]) -> Caller:
    return Caller(name="controller", request_id=call.request_id)
