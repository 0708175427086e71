"""Pure decisions: facts in, values out. No I/O, no clock, no randomness."""
