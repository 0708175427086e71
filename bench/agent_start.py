"""What it costs to start the agent: processor time and memory until its first attempt to register."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

SECONDS = 30.0
UNREACHABLE = "http://127.0.0.1:9"
TICKS = os.sysconf("SC_CLK_TCK")


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    cpu_seconds: float
    resident_mb: float
    """The most there ever was."""


def measure(pid: int) -> Cost:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    status = Path(f"/proc/{pid}/status").read_text()
    peak = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    return Cost(
        cpu_seconds=(int(fields[11]) + int(fields[12])) / TICKS,
        resident_mb=round(int(peak) / 1024, 1),
    )


def start_agent() -> Cost:
    """Start it natively against a port where nobody listens, and look when it says so."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "FIRSTLIGHT_AGENT_STATE": folder, "PYTHONUNBUFFERED": "1"}
        script = (
            "import sys; from firstlight.host.main import run; import os; "
            "sys.exit(run(['agent', *sys.argv[1:]], os.environ))"
        )
        command = (sys.executable, "-c", script)
        flags = ("--url", UNREACHABLE, "--infra-env-id", "11111111-1111-4111-8111-111111111111")
        logging = ("--with-journal-logging=false", "--with-stdout-logging=true")
        agent = subprocess.Popen([*command, *flags, *logging], stdout=subprocess.PIPE, env=environment, text=True)
        try:
            assert agent.stdout is not None
            end = time.monotonic() + SECONDS
            while "Not registered" not in (line := agent.stdout.readline()):
                if not line or time.monotonic() > end:
                    raise RuntimeError("the agent did not try to register in time")
            return measure(agent.pid)
        finally:
            agent.terminate()
            agent.communicate(timeout=SECONDS)


if __name__ == "__main__":
    print(msgspec.json.encode(start_agent()).decode())
