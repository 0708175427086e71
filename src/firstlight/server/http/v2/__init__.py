"""The v2 API, one module per resource: decode, call one use case, encode."""
