"""Addresses of clients, by which requests and attempts are counted."""

from ipaddress import IPv4Address, IPv6Address, ip_address


def counted_address(host: str) -> str:
    """The address by which a client is counted.

    A subscriber typically has a whole /64 of IPv6 addresses. A server that listens on `::` gets IPv4 addresses in IPv6
    form.

    >>> counted_address("2001:db8::1") == counted_address("2001:db8::2") == "2001:db8::/64"
    True
    >>> counted_address("::ffff:203.0.113.5"), counted_address("203.0.113.5"), counted_address("a proxy")
    ('203.0.113.5', '203.0.113.5', 'a proxy')
    """
    address = _parsed(host)
    if isinstance(address, IPv6Address):
        return f"{IPv6Address(int(address) >> 64 << 64)}/64"
    return host if address is None else str(address)


def is_this_machine(host: str) -> bool:
    """Whether a client is on this machine, as a proxy usually is.

    >>> [is_this_machine(host) for host in ("127.0.0.1", "::1", "::ffff:127.0.0.1", "203.0.113.5", "")]
    [True, True, True, False, False]
    """
    address = _parsed(host)
    return address is not None and address.is_loopback


def _parsed(host: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(host)
    except ValueError:
        return None
    return (isinstance(address, IPv6Address) and address.ipv4_mapped) or address
