"""What the steps of agents need beyond the records: images of the release, tokens, where boot artifacts are."""

from msgspec.structs import replace

from firstlight.core.infra_envs.urls import boot_artifacts
from firstlight.core.model.cluster import ClusterState
from firstlight.core.model.host import HostState
from firstlight.core.model.host_status import HostStatus
from firstlight.core.model.infra_env import InfraEnv
from firstlight.core.roles import key_of
from firstlight.core.steps.inputs import NO_INPUTS, StepInputs, release_facts
from firstlight.core.versions.catalogue import Catalogue
from firstlight.server.auth.tokens import IMAGE_KEY, Tokens
from firstlight.server.ports.store import Store
from firstlight.server.ports.subjects import host_subject, infra_env_subject
from firstlight.server.usecases.hosts import ENDPOINT_CREDENTIAL


def step_inputs(state: ClusterState, catalogue: Catalogue) -> StepInputs:
    """What the state alone tells; images inside a release are known once it has been looked into."""
    version = state.cluster.openshift_version
    if not version:
        return NO_INPUTS
    parts = state.cluster.release_parts
    return StepInputs(release=release_facts(parts, must_gather=catalogue.must_gather(version)))


async def inputs_for(state: ClusterState, *, catalogue: Catalogue, store: Store) -> StepInputs:
    """The same with what day-2 hosts show to the endpoint of their Ignition, which is kept apart from their records."""
    keys = [key_of(host) for host in state.hosts if host.host.is_day_two and host.host.ignition_endpoint_token_set]
    tokens = {key[1]: await store.secret(host_subject(key), ENDPOINT_CREDENTIAL) or "" for key in keys}
    inputs = step_inputs(state, catalogue)
    return replace(inputs, ignition_tokens=tokens) if tokens else inputs


async def pool_inputs(
    state: HostState, infra_env: InfraEnv, *, image_service_url: str, store: Store, tokens: Tokens | None
) -> StepInputs:
    """Where a machine that is given back finds its discovery system.

    Its token counts from the moment the machine was asked for, so that the step stays the same as long as it is due.
    """
    if state.host.status is not HostStatus.RECLAIMING:
        return NO_INPUTS
    token = ""
    if tokens is not None:
        key = bytes.fromhex(await store.secret(infra_env_subject(infra_env.id), IMAGE_KEY) or "")
        token = tokens.image(infra_env.id, key=key, now=state.host.status_updated_at)[0]
    artifacts = boot_artifacts(infra_env, base=image_service_url, token=token)
    return StepInputs(boot_artifacts={infra_env.id: artifacts})
