"""SQL and the two databases that run it."""
