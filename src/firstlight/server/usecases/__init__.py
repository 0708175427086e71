"""What a caller can do: one module per verb family, used by REST, the engine and the CLI alike."""
