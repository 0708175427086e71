"""What the machine is made of, read from Linux itself: one collector per fact, none of which ever fails."""
