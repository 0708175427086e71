"""OLM operators: what each needs, depends on and contributes."""
