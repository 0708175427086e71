"""The network as the kernel shows it: netlink and raw sockets, with pure packet builders and readers beside them."""
