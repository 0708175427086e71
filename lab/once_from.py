"""A stand-in for the machine-config daemon's image: it lays a bootstrap config over the virtual machine it runs on.

Called as the real one: `machine-config-daemon start … --root-mount /rootfs --once-from FILE`. In the place of bootkube
and its helpers it puts units that do what their installer looks at. Needs only the standard library.
"""

import base64
import gzip
import json
import sys
import urllib.parse
from pathlib import Path
from typing import Any, Final, cast

UNITS: Final = "etc/systemd/system"
RENDERED: Final = "/etc/lab/rendered"
BOOTKUBE: Final = """[Unit]
Description=In the place of bootkube: what it leaves behind for the installer

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/cp /opt/openshift/lab-master.ign /opt/openshift/master.ign
ExecStart=/bin/touch /opt/openshift/.bootkube.done
"""
HELPER: Final = """[Unit]
Description=In the place of one of bootkube's helpers

[Service]
Type=oneshot
ExecStart=/bin/true
"""
STAND_INS: Final = {"bootkube.service": BOOTKUBE, "approve-csr.service": HELPER, "progress.service": HELPER}
MASTER: Final = {
    "ignition": {"version": "3.2.0"},
    "storage": {"files": [{"path": RENDERED, "mode": 0o644, "contents": {"source": "data:,rendered%20by%20bootkube"}}]},
}


def lay_over(config: dict[str, Any], root: Path) -> int:
    """Every file and unit of the config, the stand-ins instead of their originals; how many that were."""
    files = {str(one["path"]): (_content(one), int(one.get("mode", 0o644))) for one in config["storage"]["files"]}
    for unit in config["systemd"]["units"]:
        contents = STAND_INS.get(str(unit["name"]), unit.get("contents"))
        if contents:
            files[f"/{UNITS}/{unit['name']}"] = str(contents).encode(), 0o644
    files["/opt/openshift/lab-master.ign"] = json.dumps(MASTER).encode(), 0o600
    for path, (content, mode) in files.items():
        target = root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        target.write_bytes(content)
        target.chmod(mode)
    return len(files)


def _content(file: dict[str, Any]) -> bytes:
    contents = cast("dict[str, str]", file.get("contents") or (file.get("append") or [{}])[0])
    head, _, data = contents.get("source", "data:,").removeprefix("data:").partition(",")
    raw = base64.b64decode(data) if head.endswith(";base64") else urllib.parse.unquote_to_bytes(data)
    return gzip.decompress(raw) if contents.get("compression") == "gzip" else raw


def main(words: list[str]) -> None:
    root, document = (Path(words[words.index(flag) + 1]) for flag in ("--root-mount", "--once-from"))
    config = json.loads((root / str(document).lstrip("/")).read_bytes())
    sys.stdout.write(f"{lay_over(config, root)} files and units were laid over the system.\n")


if __name__ == "__main__":
    main(sys.argv)
