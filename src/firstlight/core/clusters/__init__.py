"""Clusters: what the user wants, in which state the installation is."""
