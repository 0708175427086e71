"""systemd unit files: writing values into them safely, and reading them as far as Ignition does."""


def unit_file_problem(text: str) -> str:
    """Why `text` is no unit file, or nothing."""
    inside = False
    lines = iter(enumerate(text.split("\n"), start=1))
    for number, line in lines:
        stripped = line.strip()
        if not stripped or stripped.startswith(("#", ";")):
            continue
        if stripped.startswith("["):
            _, bracket, rest = stripped.partition("]")
            if not bracket:
                return f"line {number} opens a section name without closing it"
            if rest.strip():
                return f"line {number} has text after the section name"
            inside = True
            continue
        if inside:
            if "=" not in stripped:
                return f"line {number} is neither a section, a comment nor key=value"
            while line.endswith("\\"):
                _, line = next(lines, (0, ""))
    return ""


def environment_line(name: str, value: str) -> str:
    return f"Environment={quoted(f'{name}={value}')}\n"


def argument(value: str) -> str:
    """One argument of an ExecStart line: as `quoted`, and $ names a variable there."""
    return quoted(value).replace("$", "$$")


def quoted(value: str) -> str:
    """A value that systemd reads back as it is: % starts a specifier, a line end would end the setting."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return '"' + escaped.replace("%", "%%") + '"'
