"""The checks of a host, one file per topic."""
