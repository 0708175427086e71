"""The web UI as it was built from `ui/`: kept in memory, sent compressed, locked down by headers."""
