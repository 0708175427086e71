"""Agent steps: which one is due when, what it is asked, what its answer means."""
