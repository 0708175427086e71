"""What an installed system does once when the live system before it ran from the same disk."""

from typing import Final

CLEANUP_SCRIPT_PATH: Final = "/usr/local/bin/firstlight-remove-live-system.sh"
CLEANUP_UNIT_NAME: Final = "firstlight-remove-live-system.service"

CLEANUP_SCRIPT: Final = """#!/bin/bash
# The live system left its own deployments beside the installed one: remove them, their space belongs to the node.
set -euo pipefail
mount -o remount,rw /sysroot
running="$(ostree admin status --print-current-dir 2>/dev/null || true)"
for stateroot in rhcos install; do
    folder="/sysroot/ostree/deploy/$stateroot"
    [[ -d "$folder" ]] || continue
    if [[ "$running" == *"/ostree/deploy/$stateroot/"* ]]; then
        continue
    fi
    chattr -i "$folder"/deploy/* 2>/dev/null || true
    rm -rf "$folder"
done
"""

CLEANUP_UNIT: Final = f"""[Unit]
Description=Remove what the live system left on this disk
ConditionFirstBoot=true
After=local-fs.target

[Service]
Type=oneshot
ExecStart={CLEANUP_SCRIPT_PATH}

[Install]
WantedBy=multi-user.target
"""
