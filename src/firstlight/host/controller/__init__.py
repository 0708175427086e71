"""The controller: the job inside the new cluster that brings an installation to its end."""
