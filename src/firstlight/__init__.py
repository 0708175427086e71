"""Firstlight: boot bare machines, understand them, install a cluster."""

__version__ = "0.1.0"
