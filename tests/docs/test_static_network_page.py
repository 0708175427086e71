"""The page about hosts without DHCP names every problem that can be told, and no other."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "static-network.md").read_text()
SOURCES = (
    "core/network/static_rules.py",
    "core/network/static_problems.py",
    "server/usecases/network_documents.py",
    "server/nmstate/nmstatectl.py",
)
CODE = re.compile(r'(?:Trouble\(\s*|code=)"([a-z-]+)"')


def test_every_code_is_explained() -> None:
    used = {code for name in SOURCES for code in CODE.findall((ROOT / "src/firstlight" / name).read_text())}
    table = PAGE.partition("| code | means |")[2].partition("\n\n")[0]
    assert {*re.findall(r"`([a-z-]+)`", table)} == used | {"mac-twice", "name-twice"}
