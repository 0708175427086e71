"""Release payloads and the certificates made for each installation."""
