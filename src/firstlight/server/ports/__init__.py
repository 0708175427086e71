"""Protocols of the outside world, as the service needs it; the drivers elsewhere keep them."""
