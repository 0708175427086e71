"""nmstate as a program: what it makes of the descriptions that users send."""
