"""The `firstlight` command: what a person types, each word in a module of its own."""
