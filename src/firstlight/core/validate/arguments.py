"""Arguments a user adds to the kernel command line and to the disk installer."""

import re
from collections.abc import Sequence
from typing import Final

from firstlight.core.errors import Invalid
from firstlight.core.validate.quoting import shown

INSTALLER_FLAGS: Final = (
    "--append-karg",
    "--delete-karg",
    "-n",
    "--copy-network",
    "--network-dir",
    "--save-partlabel",
    "--save-partindex",
    "--image-url",
    "--image-file",
)

# Printable characters without spaces; between + and = the original's class is a range and so holds < ; : as well.
_INSTALLER_VALUE: Final = re.compile(r"""[A-Za-z0-9@!#$%*()_+\-=/.,";':<{}\[\]]+""")
_UNQUOTED: Final = re.compile(r"[^ \t\n\r]*")


def check_kernel_argument(value: str, *, operation: str = "append") -> str:
    """One argument, `name` or `name=value`; spaces only inside double quotes, line ends and NUL nowhere."""
    if operation != "append":
        raise Invalid(f"The kernel argument operation {shown(operation)} is not supported. Only append is.")
    pieces = value.split('"')
    quotes_are_closed = len(pieces) % 2 == 1
    # Every other piece stands outside quotes. A line end would begin a new line in boot scripts, quoted or not.
    outside_is_plain = all(_UNQUOTED.fullmatch(piece) for piece in pieces[::2])
    if value and quotes_are_closed and outside_is_plain and not any(each in value for each in "\n\r\0"):
        return value
    raise Invalid(
        f"The kernel argument {shown(value)} is not valid. Write one argument without spaces, or put double quotes"
        " around the part that has them."
    )


def check_installer_arguments(arguments: Sequence[str]) -> tuple[str, ...]:
    """Flags of the disk installer that a user may set, with their values."""
    for argument in arguments:
        if argument.startswith("-"):
            if argument not in INSTALLER_FLAGS:
                allowed = ", ".join(INSTALLER_FLAGS)
                raise Invalid(f"The installer flag {shown(argument)} is not allowed. Allowed flags: {allowed}.")
        elif not _INSTALLER_VALUE.fullmatch(argument):
            raise Invalid(
                f"The installer argument {shown(argument)} has characters that are not allowed."
                " Use printable characters without spaces."
            )
    return tuple(arguments)
