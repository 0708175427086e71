"""Who is calling, and may they: request origins, keys, tokens, and what each is good for."""
