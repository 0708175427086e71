"""The service: use cases, drivers and the edges (HTTP, engine) around the pure core."""
