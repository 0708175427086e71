"""Names: clusters, domains, hosts, tags, manifest files. Domain names are checked label by label."""

import re
from typing import Final

from firstlight.core.errors import Invalid
from firstlight.core.validate.quoting import shown

CLUSTER_NAME_LONGEST: Final = 54
HOST_NAME_LONGEST: Final = 63
LABEL_LONGEST: Final = 63
APPS_DOMAIN_LONGEST: Final = 191
"""`apps.<cluster>.<domain>`: what remains of 255 characters after the names OpenShift puts in front."""

FORBIDDEN_HOST_NAMES: Final = frozenset(
    {
        "localhost",
        "localhost.localdomain",
        "localhost4",
        "localhost4.localdomain4",
        "localhost6",
        "localhost6.localdomain6",
    }
)

_LABEL_CHARACTERS: Final = re.compile(r"[a-z0-9-]+")
_HOST_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,62}(?:\.[a-z0-9-]{1,63})*")
_TAG: Final = re.compile(r"\w+(?: \w+)*", re.ASCII)


def check_cluster_name(name: str, *, platform_none: bool = False) -> str:
    """With the platform none a name may have several labels joined by dots."""
    labels = name.split(".") if platform_none else [name]
    if 1 <= len(name) <= CLUSTER_NAME_LONGEST and all(map(is_label, labels)):
        return name
    dots = ", dots" if platform_none else ""
    raise Invalid(
        f"The cluster name {shown(name)} is not valid. Use 1 to {CLUSTER_NAME_LONGEST} lower-case letters, digits"
        f"{dots} and dashes, beginning and ending with a letter or digit."
    )


def check_base_domain(domain: str) -> str:
    labels = domain.split(".")
    if len(labels) > 1 and all(label.isascii() and label.isdigit() for label in labels):
        raise Invalid(
            f"The base domain {shown(domain)} looks like an IP address. Use a DNS domain such as example.com."
        )
    if is_domain(domain):
        return domain
    raise Invalid(
        f"The base domain {shown(domain)} is not a valid DNS domain. Use lower-case letters, digits and dashes in"
        " labels of at most 63 characters joined by dots, for example example.com."
    )


def check_cluster_domain(name: str, *, base_domain: str) -> None:
    """The names OpenShift derives from the cluster name and base domain must fit into DNS."""
    whole = f"apps.{name}.{base_domain}"
    if len(whole) > APPS_DOMAIN_LONGEST:
        raise Invalid(
            f"The domain {shown(whole)} has {len(whole)} characters, and at most {APPS_DOMAIN_LONGEST} are possible."
            " Choose a shorter cluster name or base domain."
        )
    for label in whole.split("."):
        if len(label) > LABEL_LONGEST:
            raise Invalid(f"The part {shown(label)} of the cluster's domain is longer than {LABEL_LONGEST} characters.")


def check_host_name(name: str) -> str:
    """A host name a user asks for."""
    if name in FORBIDDEN_HOST_NAMES:
        raise Invalid(f"The host name {shown(name)} is forbidden because it means the local host. Choose another one.")
    if is_host_name(name):
        return name
    raise Invalid(
        f"The host name {shown(name)} is not valid. Use at most {HOST_NAME_LONGEST} lower-case letters, digits, dashes"
        " and dots, beginning with a letter or digit."
    )


def check_tags(tags: str) -> str:
    """A comma list; each tag is one or more words joined by single spaces."""
    for tag in tags.split(",") if tags else ():
        if not _TAG.fullmatch(tag):
            raise Invalid(
                f"The tag {shown(tag)} is not valid. Use words of letters, digits and underscores joined by single"
                " spaces, and separate tags by a comma without spaces."
            )
    return tags


def is_label(text: str) -> bool:
    """Lower-case letters, digits and dashes, with no dash at either end; any length from one."""
    return _LABEL_CHARACTERS.fullmatch(text) is not None and text[0] != "-" and text[-1] != "-"


def is_domain(text: str) -> bool:
    """A DNS domain as installations accept it: the last label has two characters or more."""
    labels = text.split(".")
    longest = 62 if len(labels) == 1 else 255
    if len(text) > longest or len(labels[-1]) < 2:
        return False
    return all(len(label) <= LABEL_LONGEST and is_label(label) for label in labels)


def is_host_name(text: str) -> bool:
    """The form of a host name, whether or not it is forbidden."""
    return len(text) <= HOST_NAME_LONGEST and _HOST_NAME.fullmatch(text) is not None
