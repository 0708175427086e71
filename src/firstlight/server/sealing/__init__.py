"""Encryption of what is kept: one seal for secrets in the database and for files, with keys that can be changed."""
