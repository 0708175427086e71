"""The agent proper: it registers its machine, asks what to do, does it under supervision, and says how it went."""
