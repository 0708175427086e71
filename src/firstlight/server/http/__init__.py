"""The HTTP face of the service: routing, parsing, errors, the API document."""
