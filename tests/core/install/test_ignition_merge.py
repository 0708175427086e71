"""Merging overrides: the rules of Ignition, and the laws every merge keeps."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.errors import Invalid
from firstlight.core.install import ignition
from firstlight.core.install.data_url import to_data_url
from firstlight.core.install.ignition_merge import merge, merge_text
from firstlight.core.install.ignition_models import Config
from tests.core.install.documents import a_document


def override(version: str = "3.1.0", **sections: object) -> str:
    return json.dumps(a_document(version=version, **sections))


MOTD = ignition.config("3.1.0", files=[ignition.file("/etc/motd", "hello"), ignition.file("/other", "x")])


def test_a_new_content_keeps_mode_owner_and_overwrite() -> None:
    merged = merge_text(MOTD, override(storage={"files": [{"path": "/etc/motd", "contents": {"source": "data:,bye"}}]}))
    motd, other = merged.storage.files
    assert ignition.content_of(merged, "/etc/motd") == b"bye"
    assert (motd.mode, motd.user, motd.overwrite) == (0o644, ignition.ROOT, True)
    assert other == MOTD.storage.files[1]


def test_new_entries_follow_the_old() -> None:
    merged = merge_text(MOTD, override(storage={"files": [{"path": "/new"}]}))
    assert [node.path for node in merged.storage.files] == ["/etc/motd", "/other", "/new"]


def test_a_link_takes_the_place_of_a_file() -> None:
    merged = merge_text(MOTD, override(storage={"links": [{"path": "/etc/motd", "target": "/run/motd"}]}))
    assert [node.path for node in merged.storage.files] == ["/other"]
    assert [node.path for node in merged.storage.links] == ["/etc/motd"]


def test_keys_and_groups_are_sets_and_the_version_is_the_childs() -> None:
    users = [{"name": "core", "sshAuthorizedKeys": ["a"], "groups": ["sudo"]}]
    more = [{"name": "core", "sshAuthorizedKeys": ["b", "a"], "passwordHash": "x"}]
    merged = merge(
        ignition.parse(override(passwd={"users": users})), ignition.parse(override("3.2.0", passwd={"users": more}))
    )
    core = merged.passwd.users[0]
    assert core.ssh_authorized_keys == ("a", "b")
    assert core.groups == ("sudo",)
    assert core.password_hash == "x"
    assert merged.ignition.version == "3.2.0"


def test_an_older_override_takes_the_newer_parts_away() -> None:
    parent = ignition.parse(override("3.2.0", storage={"luks": [{"name": "root", "device": "/dev/vda"}]}))
    merged = merge(parent, ignition.parse(override("3.1.0")))
    assert merged.ignition.version == "3.1.0"
    assert merged.storage.luks == ()


def test_units_merge_by_name_and_dropins_too() -> None:
    parent = override(systemd={"units": [{"name": "a.service", "enabled": True, "dropins": [{"name": "1.conf"}]}]})
    child = override(systemd={"units": [{"name": "a.service", "enabled": False, "dropins": [{"name": "2.conf"}]}]})
    (unit,) = merge(ignition.parse(parent), ignition.parse(child)).systemd.units
    assert unit.enabled is False
    assert [dropin.name for dropin in unit.dropins] == ["1.conf", "2.conf"]


def test_headers_without_value_remove_the_parents() -> None:
    def pointer(*headers: dict[str, object]) -> Config:
        merging = {"merge": [{"source": "https://a", "httpHeaders": list(headers)}]}
        return ignition.parse(json.dumps({"ignition": {"version": "3.2.0", "config": merging}}))

    parent = pointer({"name": "A", "value": "1"}, {"name": "B", "value": "2"})
    (resource,) = merge(parent, pointer({"name": "A"})).ignition.config.merge
    assert [(header.name, header.value) for header in resource.http_headers] == [("B", "2")]


def test_appends_add_up() -> None:
    part = override(storage={"files": [{"path": "/a", "append": [{"source": "data:,x"}]}]})
    assert len(merge(ignition.parse(part), ignition.parse(part)).storage.files[0].append) == 2


def test_a_merge_that_ends_in_nonsense_is_refused() -> None:
    parent = ignition.parse(override(storage={"links": [{"path": "/a", "target": "/b"}]}))
    with pytest.raises(Invalid, match="through a link"):
        merge_text(parent, override(storage={"files": [{"path": "/a/c"}]}))


def test_the_empty_override_changes_nothing() -> None:
    assert merge_text(MOTD, "") is MOTD


PATHS = st.sampled_from(["/etc/a", "/etc/b", "/etc/c", "/etc/d"])
OWNERS = st.fixed_dictionaries({}, optional={"name": st.sampled_from(["root", "core"])})
FILES = st.lists(
    st.fixed_dictionaries(
        {"path": PATHS},
        optional={
            "mode": st.integers(0, 0o7777),
            "user": OWNERS,
            "contents": st.builds(lambda content: {"source": to_data_url(content)}, st.binary(max_size=8)),
        },
    ),
    unique_by=lambda node: str(node["path"]),
)
UNITS = st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from(["a.service", "b.socket", "c.timer"])},
        optional={"enabled": st.booleans(), "contents": st.sampled_from(["", "[Unit]\nA=b\n"])},
    ),
    unique_by=lambda unit: str(unit["name"]),
)
USERS = st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from(["core", "admin"])},
        optional={"sshAuthorizedKeys": st.lists(st.text(max_size=4), unique=True), "uid": st.integers(0, 9)},
    ),
    unique_by=lambda user: str(user["name"]),
)


def build(version: str, files: object, units: object, users: object) -> Config:
    sections = {"storage": {"files": files}, "systemd": {"units": units}, "passwd": {"users": users}}
    return ignition.parse(json.dumps(a_document(version=version, **sections)))


CONFIGS = st.builds(build, st.sampled_from(ignition.SUPPORTED_VERSIONS), FILES, UNITS, USERS)


@given(CONFIGS)
def test_nothing_is_neutral_on_both_sides(config: Config) -> None:
    nothing = ignition.config(config.ignition.version)
    assert merge(config, nothing) == config
    assert merge(nothing, config) == config


@given(CONFIGS, CONFIGS)
def test_an_override_applied_twice_is_applied_once(parent: Config, child: Config) -> None:
    once = merge(parent, child)
    assert merge(once, child) == once
    assert ignition.parse(ignition.encode(once)) == once


@given(CONFIGS, CONFIGS, CONFIGS)
def test_overrides_may_be_merged_first(parent: Config, child: Config, last: Config) -> None:
    assert merge(merge(parent, child), last) == merge(parent, merge(child, last))
