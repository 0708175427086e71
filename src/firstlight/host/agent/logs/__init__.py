"""What happened on this machine: written down, shown live, gathered for the service; never with a secret in it."""
