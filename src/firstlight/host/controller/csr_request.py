"""What a certificate request asks for: whose name, which organisations, which other names.

The signature is not looked at: the API server took the request only because the signature fits its key.
"""

import base64
import binascii
import re
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

from msgspec import Struct

from firstlight.host.controller.der import (
    CONTEXT_0,
    OBJECT_IDENTIFIER,
    OCTET_STRING,
    SEQUENCE,
    SET,
    Element,
    Malformed,
    elements,
    inside,
    text,
)

_PEM: Final = re.compile(r"\A\s*-----BEGIN CERTIFICATE REQUEST-----\s([^-]*)-----END CERTIFICATE REQUEST-----\s*\Z")
_COMMON_NAME: Final = bytes.fromhex("550403")
_ORGANIZATION: Final = bytes.fromhex("55040a")
_EXTENSION_REQUEST: Final = bytes.fromhex("2a864886f70d01090e")
_ALTERNATIVE_NAMES: Final = bytes.fromhex("551d11")
_DNS_NAME: Final = 0x82
_ADDRESS: Final = 0x87
_INFO_PARTS: Final = 3


class CertificateRequest(Struct, frozen=True, kw_only=True):
    common_names: tuple[str, ...] = ()
    organizations: tuple[str, ...] = ()
    other_subject_parts: int = 0
    """Parts of the subject of any other kind."""
    dns_names: tuple[str, ...] = ()
    addresses: tuple[IPv4Address | IPv6Address, ...] = ()
    other_names: int = 0
    """Alternative names of any other kind: mail addresses, URIs and the like."""

    @property
    def has_alternative_names(self) -> bool:
        return bool(self.dns_names or self.addresses or self.other_names)


def read_request(pem: bytes) -> CertificateRequest:
    """Raises `Malformed` for anything but exactly one request in PEM."""
    found = _PEM.match(pem.decode("ascii", "replace"))
    if found is None:
        raise Malformed("it is not one certificate request in PEM")
    try:
        der = base64.b64decode("".join(found[1].split()), validate=True)
    except binascii.Error as reason:
        raise Malformed("its PEM is not base64") from reason
    outer = list(elements(der))
    if len(outer) != 1:
        raise Malformed("it is not one element")
    whole = inside(outer[0], tag=SEQUENCE)
    info = inside(whole[0], tag=SEQUENCE) if whole else []
    if len(info) < _INFO_PARTS:
        raise Malformed("it has no subject or no key")
    attributes = [one for one in info[_INFO_PARTS:] if one.tag == CONTEXT_0]
    names = [name for one in attributes for name in _alternative_names(one)]
    common, organizations, others = _subject(info[1])
    return CertificateRequest(
        common_names=common,
        organizations=organizations,
        other_subject_parts=others,
        dns_names=tuple(_ascii(name) for name in names if name.tag == _DNS_NAME),
        addresses=tuple(_address(name) for name in names if name.tag == _ADDRESS),
        other_names=sum(name.tag not in (_DNS_NAME, _ADDRESS) for name in names),
    )


def _subject(name: Element) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    common: list[str] = []
    organizations: list[str] = []
    others = 0
    for group in inside(name, tag=SEQUENCE):
        for pair in inside(group, tag=SET):
            kind, value = _pair(inside(pair, tag=SEQUENCE))
            if kind == _COMMON_NAME:
                common.append(text(value))
            elif kind == _ORGANIZATION:
                organizations.append(text(value))
            else:
                others += 1
    return tuple(common), tuple(organizations), others


def _alternative_names(attributes: Element) -> list[Element]:
    """The names in all extensions that the request asks for."""
    found: list[Element] = []
    for attribute in elements(attributes.content):
        kind, values = _pair(inside(attribute, tag=SEQUENCE))
        if kind != _EXTENSION_REQUEST:
            continue
        for wanted in inside(values, tag=SET):
            for extension in inside(wanted, tag=SEQUENCE):
                parts = inside(extension, tag=SEQUENCE)
                if parts and parts[0].content == _ALTERNATIVE_NAMES:
                    if parts[-1].tag != OCTET_STRING:
                        raise Malformed("its alternative names have no value")
                    for names in elements(parts[-1].content):
                        found += inside(names, tag=SEQUENCE)
    return found


def _pair(parts: list[Element]) -> tuple[bytes, Element]:
    if len(parts) != 2 or parts[0].tag != OBJECT_IDENTIFIER:
        raise Malformed("something is not a kind with its value")
    return parts[0].content, parts[1]


def _ascii(name: Element) -> str:
    try:
        return name.content.decode("ascii")
    except UnicodeDecodeError as reason:
        raise Malformed("a DNS name is not ASCII") from reason


def _address(name: Element) -> IPv4Address | IPv6Address:
    try:
        return ip_address(name.content)
    except ValueError as reason:
        raise Malformed("an address has a wrong length") from reason
