"""Byte arithmetic of boot images: what lies where in a live ISO, and what a patched one consists of. No files here."""
