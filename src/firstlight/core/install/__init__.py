"""Everything an installation hands out: Ignition, install-config, manifests. Values in, bytes out."""
