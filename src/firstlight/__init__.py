"""Firstlight: boot bare machines, understand them, install a cluster."""
