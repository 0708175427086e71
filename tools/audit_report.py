"""Tell in plain lines what pip-audit found: known holes, and packages it got no answer about."""

import json
import sys
from pathlib import Path
from typing import Required, TypedDict


class Hole(TypedDict):
    id: str
    fix_versions: list[str]


class Package(TypedDict, total=False):
    name: Required[str]
    version: str
    skip_reason: str
    vulns: list[Hole]


def main(report: Path) -> int:
    packages: list[Package] = json.loads(report.read_text())["dependencies"]
    unknown = [package for package in packages if "skip_reason" in package]
    holes = [(package, hole) for package in packages for hole in package.get("vulns", [])]
    for package, hole in holes:
        fixed = ", ".join(hole["fix_versions"]) or "no version yet"
        print(f"{package['name']} {package.get('version', '')}: {hole['id']}, fixed in {fixed}")
    print(f"audit: {len(packages) - len(unknown)} packages looked up, {len(holes)} known holes.")
    if unknown:
        print(f"audit: no answer about {len(unknown)} packages; the vulnerability service is perhaps not reachable.")
    return 1 if holes or unknown else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
