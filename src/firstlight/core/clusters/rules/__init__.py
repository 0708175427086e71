"""The checks of a cluster, one file per topic."""
