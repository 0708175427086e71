"""Machines to boot: a stand-in for CoreOS made of Debian packages, and virtual machines to start it in."""
