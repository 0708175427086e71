"""Reading systemd unit files, as far as needed to say whether systemd and Ignition could."""


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


def escape_specifiers(value: str) -> str:
    """A value inside a unit file: systemd reads % as the start of a specifier."""
    return value.replace("%", "%%")
