"""Reading Ignition documents: what is accepted, what is refused and with which words."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.errors import Invalid
from firstlight.core.install import ignition
from firstlight.core.install.data_url import from_data_url, to_data_url
from tests.core.install.documents import ACCEPTED, REFUSED, a_document


@pytest.mark.parametrize("document", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_accepted(document: object) -> None:
    text = json.dumps(document)
    config = ignition.parse(text)
    assert ignition.parse(ignition.encode(config)) == config


@pytest.mark.parametrize(("document", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_refused_with_the_reason(document: object, reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        ignition.parse(json.dumps(document))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("{", "not valid JSON", id="cut"),
        pytest.param("", "not valid JSON", id="empty"),
        pytest.param("[]", "no version", id="a-list"),
        pytest.param("{}", "unsupported config version", id="nothing-inside"),
        pytest.param('{"ignition": []}', "unsupported config version", id="ignition-is-a-list"),
        pytest.param("[" * 100_000, "too deeply", id="deep"),
        pytest.param("\ud800", "UTF-8", id="surrogate"),
        pytest.param(b'{"ignition":{"version":"3.1.0\xff"}}', "UTF-8", id="bytes"),
        pytest.param('{"ignition":{"version":"3.1.0"}} x', "not valid JSON", id="trailing"),
        pytest.param('{"ignition":{"version":"3.1.0"},"storage":{"files":[{"mode":1e400}]}}', "follow", id="infinite"),
        pytest.param(
            f'{{"ignition":{{"version":"3.1.0"}},"storage":{{"files":[{{"mode":{2**70}}}]}}}}', "follow", id="int"
        ),
    ],
)
def test_broken_text(text: str | bytes, reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        ignition.parse(text)


@pytest.mark.parametrize("version", ["3.0.0", "3.3.0", "2.2.0", "3.2", "", None, 3])
def test_other_versions_are_refused(version: object) -> None:
    with pytest.raises(Invalid, match="unsupported config version"):
        ignition.parse(json.dumps({"ignition": {"version": version}}))


def test_keys_in_any_case_and_nulls_as_ignition_takes_them() -> None:
    config = ignition.parse(
        '{"Ignition":{"VERSION":"3.2.0"},"Storage":{"files":[{"path":"/a","mode":null}]},"passwd":null}'
    )
    assert [node.path for node in config.storage.files] == ["/a"]


def test_version_3_1_knows_no_luks() -> None:
    luks = {"luks": [{"name": "root", "device": "/dev/vda"}]}
    assert ignition.parse(json.dumps(a_document(storage=luks))).storage.luks
    assert not ignition.parse(json.dumps(a_document(version="3.1.0", storage=luks))).storage.luks


def test_every_problem_is_named() -> None:
    files = [{"path": "relative"}, {"path": "/x", "mode": 4096}]
    with pytest.raises(Invalid) as refusal:
        ignition.parse(json.dumps(a_document(storage={"files": files})))
    assert "files[0].path 'relative' is not absolute" in str(refusal.value)
    assert "files[1].mode 4096" in str(refusal.value)


def test_adding_a_file_replaces_the_earlier_one() -> None:
    document = ignition.config("3.2.0", files=[ignition.file("/etc/motd", "one"), ignition.file("/b", "b")])
    changed = ignition.with_files(document, [ignition.file("/etc/motd", "two")])
    assert ignition.content_of(changed, "/etc/motd") == b"two"
    assert len(changed.storage.files) == 2
    assert ignition.content_of(changed, "/absent") is None


@given(st.binary())
def test_data_urls_come_back(content: bytes) -> None:
    assert from_data_url(to_data_url(content)) == content


@pytest.mark.parametrize(
    ("url", "content"),
    [("data:,a%20b", b"a b"), ("data:text/plain,x", b"x"), ("data:text/plain;charset=utf-8;base64,YQ==", b"a")],
)
def test_data_url_forms(url: str, content: bytes) -> None:
    assert from_data_url(url) == content


@pytest.mark.parametrize("url", ["https://a", "data:", "data:what,x", "data:,%zz", "data:,a b", "data:;base64,YQ"])
def test_broken_data_urls(url: str) -> None:
    with pytest.raises(Invalid):
        from_data_url(url)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(
                    ["storage", "files", "path", "systemd", "units", "name", "contents", "mode", "passwd", "users"]
                ),
                inner,
            )
        ),
        max_leaves=20,
    )
)
def test_any_document_is_read_or_refused(body: object) -> None:
    document = {"ignition": {"version": "3.2.0"}, **(body if isinstance(body, dict) else {})}
    try:
        config = ignition.parse(json.dumps(document))
    except Invalid:
        return
    assert ignition.parse(ignition.encode(config)) == config
