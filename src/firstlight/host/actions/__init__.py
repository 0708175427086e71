"""What the service may ask a machine to do: one module per step type."""
