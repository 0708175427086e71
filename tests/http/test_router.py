import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.server.http.errors import BadRequest, NoSuchPath, WrongMethod
from firstlight.server.http.router import Router
from tests.http.published_operations import PUBLISHED

BASE = "/api/assisted-install"
ROUTER = Router((method, BASE + path, operation) for method, path, operation, _ in PUBLISHED)
CLUSTER = "02344e42-0806-4271-a5be-4b5014fe9c3b"


def filled(path: str) -> str:
    """The path with something in place of each parameter."""
    return "/".join(
        CLUSTER if segment.endswith(":uuid}") else "word" if segment.startswith("{") else segment
        for segment in path.split("/")
    )


def test_the_list_is_whole() -> None:
    assert len(PUBLISHED) == 81
    assert len({operation for _, _, operation, _ in PUBLISHED}) == 81
    assert len({path for _, path, _, _ in PUBLISHED}) == 61


@pytest.mark.parametrize(("method", "path", "operation", "_"), PUBLISHED)
def test_every_published_operation_is_found(method: str, path: str, operation: str, _: int) -> None:
    route, values = ROUTER.find(method, BASE + filled(path))
    assert route.endpoint == operation
    assert list(route.arguments(values)) == [
        part.strip("{}").partition(":")[0] for part in path.split("/") if "{" in part
    ]


@given(st.sampled_from(PUBLISHED), st.lists(st.integers(1, 3), min_size=16, max_size=16), st.integers(0, 3))
def test_doubled_and_trailing_slashes_change_nothing(
    published: tuple[str, str, str, int], doubled: list[int], trailing: int
) -> None:
    method, path, operation, _ = published
    segments = (BASE + filled(path)).strip("/").split("/")
    untidy = "".join("/" * doubled[index % 16] + segment for index, segment in enumerate(segments)) + "/" * trailing
    assert ROUTER.find(method, untidy)[0].endpoint == operation


@pytest.mark.parametrize(
    ("path", "operation"),
    [
        ("/v2/clusters//default-config", "V2GetClusterDefaultConfig"),
        ("/v2/clusters/", "v2ListClusters"),
        ("/v2/infra-envs/", "ListInfraEnvs"),
        (f"/v2/infra-envs/{CLUSTER}/hosts/", "v2ListHosts"),
        (f"/v2/infra-env/{CLUSTER}/hosts/{CLUSTER}/downloads/ignition", "v2DownloadHostIgnition"),
    ],
)
def test_paths_the_user_interface_really_calls(path: str, operation: str) -> None:
    assert ROUTER.find("GET", BASE + path)[0].endpoint == operation


@pytest.mark.parametrize(
    "path", ["/", "/v2", "/v2/clusters", f"{BASE}/v2", f"{BASE}/v2/nothing", f"{BASE}/v2/events/more"]
)
def test_unknown_paths(path: str) -> None:
    with pytest.raises(NoSuchPath, match=f"^path {path} was not found$"):
        ROUTER.find("GET", path)


def test_wrong_method_names_the_right_ones() -> None:
    with pytest.raises(WrongMethod) as caught:
        ROUTER.find("PUT", f"{BASE}/v2/clusters/{CLUSTER}")
    assert str(caught.value) == "method PUT is not allowed, but [DELETE,GET,PATCH] are"
    assert caught.value.headers == {"allow": "DELETE, GET, PATCH"}


def test_head_is_served_where_get_is() -> None:
    assert ROUTER.find("HEAD", f"{BASE}/v2/clusters")[0].endpoint == "v2ListClusters"
    with pytest.raises(WrongMethod):
        ROUTER.find("HEAD", f"{BASE}/v2/clusters/import")


@pytest.mark.parametrize("value", ["x", CLUSTER[:-1], CLUSTER + "0", "{" + CLUSTER + "}", "urn:uuid:" + CLUSTER, "%00"])
def test_a_bad_uuid_is_a_bad_request(value: str) -> None:
    route, values = ROUTER.find("GET", f"{BASE}/v2/clusters/{value}/credentials")
    with pytest.raises(BadRequest) as caught:
        route.arguments(values)
    assert str(caught.value) == f'cluster_id in path must be of type uuid: "{value}"'


@given(st.text(max_size=40))
def test_any_path_is_found_or_refused(text: str) -> None:
    try:
        route, values = ROUTER.find("GET", "/" + text)
        route.arguments(values)
    except (NoSuchPath, WrongMethod, BadRequest):
        pass


def test_a_route_declared_twice_is_a_defect() -> None:
    with pytest.raises(ValueError, match="declared twice"):
        Router([("GET", "/a/{id}", 1), ("GET", "/a/{other}", 2)])
