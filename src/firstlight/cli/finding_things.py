"""From what people type (a name, an id, the beginning of an id) to the one thing that is meant."""

from collections.abc import Sequence

from firstlight.cli.api import V2, Api, Document
from firstlight.cli.ending import Code, stop


def find_cluster(api: Api, word: str) -> Document:
    return _one("cluster", word, api.get_list(f"{V2}/clusters"), names=("name",))


def find_infra_env(api: Api, word: str) -> Document:
    return _one("infra-env", word, api.get_list(f"{V2}/infra-envs"), names=("name",))


def find_host(api: Api, word: str) -> Document:
    hosts = [host for infra_env in api.get_list(f"{V2}/infra-envs") for host in hosts_of(api, infra_env)]
    return _one("host", word, hosts, names=("requested_hostname",))


def hosts_of(api: Api, infra_env: Document) -> list[Document]:
    return api.get_list(f"{V2}/infra-envs/{infra_env['id']}/hosts")


def host_path(host: Document) -> str:
    return f"{V2}/infra-envs/{host['infra_env_id']}/hosts/{host['id']}"


def _one(kind: str, word: str, things: Sequence[Document], *, names: Sequence[str]) -> Document:
    exact = [thing for thing in things if thing["id"] == word.lower() or any(thing.get(name) == word for name in names)]
    found = exact or [thing for thing in things if len(word) >= 4 and thing["id"].startswith(word.lower())]
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(str(thing["id"]) for thing in found)
        stop(f"'{word}' means {len(found)} {kind}s: {ids}. Use the id.")
    known = ", ".join(sorted({str(thing.get(names[0]) or thing["id"]) for thing in things})[:10]) or "none"
    stop(f"there is no {kind} '{word}'. Known: {known}.", Code.NOT_FOUND)
