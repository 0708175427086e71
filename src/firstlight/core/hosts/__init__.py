"""Hosts: what a machine told about itself, what its user wants, in which state it is."""
