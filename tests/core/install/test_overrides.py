"""install-config overrides: strict keys, and the merge of the original."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.errors import Invalid
from firstlight.core.install.install_config import generated_config
from firstlight.core.install.overrides import apply_override, parse_override
from tests.core.install.clusters import a_cluster


@pytest.mark.parametrize(
    ("override", "reason"),
    [
        ("{", "not valid JSON"),
        ("[]", "JSON object"),
        ("null", "JSON object"),
        ("[" * 100_000, "not valid JSON"),
        ('{"fip": true}', "key fip"),
        ('{"networking": {"kind": "x"}}', r"key networking\.kind"),
        ('{"compute": [{"platform": {}}]}', r"key compute\[0\]\.platform"),
        ('{"platform": {"aws": {}}}', r"key platform\.aws.*baremetal"),
        ('{"platform": {"none": {"a": 1}}}', "Known there: nothing"),
        ('{"fips": "true"}', "true or false at fips"),
        ('{"compute": {}}', "a list at compute"),
        ('{"compute": [{"replicas": true}]}', "whole number"),
        ('{"compute": [{"replicas": 1.5}]}', "whole number"),
        ('{"metadata": "x"}', "an object at metadata"),
        ('{"networking": {"serviceNetwork": [1]}}', r"a string at networking\.serviceNetwork\[0\]"),
    ],
)
def test_refused(override: str, reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        parse_override(override)


def test_keys_match_in_any_case() -> None:
    assert parse_override('{"Networking": {"NETWORKTYPE": "Calico"}, "FIPS": true}') == {
        "networking": {"networkType": "Calico"},
        "fips": True,
    }


def test_two_spellings_of_one_key_are_merged_in_order() -> None:
    assert parse_override('{"proxy": {"httpProxy": "a"}, "Proxy": {"noProxy": "b"}}') == {
        "proxy": {"httpProxy": "a", "noProxy": "b"}
    }


@pytest.mark.parametrize(
    ("document", "override", "result"),
    [
        pytest.param({"fips": False, "sshKey": "k"}, {"fips": True}, {"fips": True, "sshKey": "k"}, id="scalar"),
        pytest.param({"fips": False}, {"fips": None}, {"fips": False}, id="null"),
        pytest.param(
            {"networking": {"serviceNetwork": ["a", "b"]}},
            {"networking": {"serviceNetwork": ["c"]}},
            {"networking": {"serviceNetwork": ["c"]}},
            id="texts-are-replaced",
        ),
        pytest.param(
            {"networking": {"clusterNetwork": [{"cidr": "a", "hostPrefix": 23}, {"cidr": "b", "hostPrefix": 64}]}},
            {"networking": {"clusterNetwork": [{"cidr": "c"}]}},
            {"networking": {"clusterNetwork": [{"cidr": "c", "hostPrefix": 23}]}},
            id="objects-by-index-and-cut",
        ),
        pytest.param(
            {"compute": [{"name": "worker", "replicas": 2}]},
            {"compute": [None, {"name": "edge"}]},
            {"compute": [{"name": "worker", "replicas": 2}, {"name": "edge"}]},
            id="longer-with-null",
        ),
        pytest.param({}, {"proxy": {"noProxy": "x"}}, {"proxy": {"noProxy": "x"}}, id="new-object"),
        pytest.param({"featureGates": ["a"]}, {"featureGates": []}, {"featureGates": []}, id="emptied"),
    ],
)
def test_merge(document: dict[str, object], override: object, result: object) -> None:
    assert apply_override(document, json.dumps(override)) == result


def test_a_generated_document_overrides_itself_to_itself() -> None:
    """Every key we write is a key we accept."""
    document = generated_config(a_cluster())
    assert apply_override(document, json.dumps(document)) == document


def test_the_input_is_left_alone() -> None:
    document = generated_config(a_cluster())
    before = json.dumps(document)
    apply_override(document, '{"networking": {"networkType": "Calico", "clusterNetwork": [{"cidr": "x"}]}}')
    assert json.dumps(document) == before


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse_override(text)
    except Invalid:
        return
