"""What runs on the machine being installed, and in the new cluster. It shares only the wire with the service."""
