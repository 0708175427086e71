"""Hosts for users and installers: look, change, bind, install, report progress."""

from typing import Final

from firstlight.core import wire
from firstlight.core.decision import HostKey
from firstlight.core.errors import Invalid
from firstlight.core.model.host_status import Stage
from firstlight.core.wire.host_wishes import host_wish
from firstlight.core.wire.views import view_host
from firstlight.server.http.call import B, Call, NoQuery, Q
from firstlight.server.http.operations import Access, operation
from firstlight.server.http.reply import Empty
from firstlight.server.usecases import binding, hosts
from firstlight.server.usecases.hosts import ShownHost
from firstlight.server.usecases.world import World

HOSTS: Final = "/v2/infra-envs/{infra_env_id:uuid}/hosts"
HOST: Final = HOSTS + "/{host_id:uuid}"
DONE: Final = Empty()


def _key(call: Call[B, Q]) -> HostKey:
    return (call.uuid("infra_env_id"), call.uuid("host_id"))


def _view(world: World, shown: ShownHost) -> wire.Host:
    return view_host(shown.state, cluster=shown.cluster, policy=world.policy, raw=shown.raw)


@operation(
    "GET",
    HOSTS,
    id="v2ListHosts",
    access=Access.READ | Access.AGENT,
    answer=tuple[wire.Host, ...],
    errors=(401, 403, 404, 405, 500, 501, 503),
    etag=True,
)
async def list_hosts(world: World, call: Call[None, NoQuery]) -> tuple[wire.Host, ...]:
    """The hosts of an infra-env."""
    return tuple(_view(world, shown) for shown in await hosts.list_hosts(world, call.uuid("infra_env_id")))


@operation(
    "GET",
    HOST,
    id="v2GetHost",
    access=Access.READ,
    answer=wire.Host,
    errors=(401, 403, 404, 405, 500, 501),
    etag=True,
)
async def get_host(world: World, call: Call[None, NoQuery]) -> wire.Host:
    """One host."""
    return _view(world, await hosts.get_host(world, _key(call)))


@operation(
    "PATCH",
    HOST,
    id="v2UpdateHost",
    body=wire.HostUpdateParams,
    body_name="hostUpdateParams",
    success=201,
    answer=wire.Host,
    errors=(400, 401, 403, 404, 405, 409, 500),
)
async def update_host(world: World, call: Call[wire.HostUpdateParams, NoQuery]) -> wire.Host:
    """Change a host: role, name, disks, labels."""
    return _view(world, await hosts.update_host(world, _key(call), host_wish(call.body), caller=call.actor))


@operation("DELETE", HOST, id="v2DeregisterHost", success=204, errors=(400, 401, 403, 404, 405, 409, 500))
async def deregister_host(world: World, call: Call[None, NoQuery]) -> Empty:
    """Forget a host."""
    await hosts.deregister_host(world, _key(call), caller=call.actor)
    return DONE


@operation(
    "POST",
    HOST + "/actions/bind",
    id="BindHost",
    body=wire.BindHostParams,
    body_name="bindHostParams",
    answer=wire.Host,
    errors=(400, 401, 403, 404, 405, 409, 500, 501, 503),
)
async def bind_host(world: World, call: Call[wire.BindHostParams, NoQuery]) -> wire.Host:
    """Give a host of the pool to a cluster."""
    shown = await binding.bind(world, _key(call), cluster_id=call.body.cluster_id, caller=call.actor)
    return _view(world, shown)


@operation(
    "POST",
    HOST + "/actions/unbind",
    id="UnbindHost",
    answer=wire.Host,
    errors=(400, 401, 403, 404, 405, 409, 500, 501, 503),
)
async def unbind_host(world: World, call: Call[None, NoQuery]) -> wire.Host:
    """Take a host back from its cluster."""
    return _view(world, await binding.unbind(world, _key(call), caller=call.actor))


@operation(
    "PATCH",
    HOST + "/actions/reset-validation/{validation_id}",
    id="v2ResetHostValidation",
    answer=wire.Host,
    errors=(400, 401, 403, 404, 409, 500),
)
async def reset_host_validation(world: World, call: Call[None, NoQuery]) -> wire.Host:
    """Measure again what a check goes by."""
    shown = await hosts.measure_again(world, _key(call), call.text("validation_id"), caller=call.actor)
    return _view(world, shown)


@operation("POST", HOST + "/actions/reset", id="v2ResetHost", answer=wire.Host, errors=(401, 403, 404, 409, 500))
async def reset_host(world: World, call: Call[None, NoQuery]) -> wire.Host:
    """Start over with a host that was added to an installed cluster."""
    return _view(world, await hosts.reset_host(world, _key(call), caller=call.actor))


@operation(
    "POST",
    HOST + "/actions/install",
    id="v2InstallHost",
    success=202,
    answer=wire.Host,
    errors=(401, 403, 404, 409, 500),
)
async def install_host(world: World, call: Call[None, NoQuery]) -> wire.Host:
    """Install a host into a cluster that runs already."""
    return _view(world, await hosts.install_host(world, _key(call), caller=call.actor))


@operation(
    "PATCH",
    HOST + "/installer-args",
    id="v2UpdateHostInstallerArgs",
    body=wire.InstallerArgsParams,
    body_name="installerArgsParams",
    success=201,
    answer=wire.Host,
    errors=(400, 401, 403, 404, 405, 409, 500, 501),
)
async def update_installer_args(world: World, call: Call[wire.InstallerArgsParams, NoQuery]) -> wire.Host:
    """Set extra arguments for the disk installer."""
    arguments = call.body.args or ()
    return _view(world, await hosts.set_installer_arguments(world, _key(call), arguments, caller=call.actor))


@operation(
    "PUT",
    HOST + "/progress",
    id="v2UpdateHostInstallProgress",
    access=Access.AGENT,
    body=wire.HostProgress,
    body_name="hostProgress",
    errors=(400, 401, 403, 404, 405, 409, 500, 503),
    headers=("discovery_agent_version",),
)
async def update_progress(world: World, call: Call[wire.HostProgress, NoQuery]) -> Empty:
    """Report how far the installation of a host is."""
    if call.body.current_stage is None:
        raise Invalid("The report says no current_stage. Send the stage that was reached.")
    await hosts.report_progress(
        world,
        _key(call),
        stage=Stage(call.body.current_stage),
        info=call.body.progress_info or "",
        caller=call.actor,
    )
    return DONE
