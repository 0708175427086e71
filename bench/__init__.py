"""What the service costs: CPU time and ratios in one run, printed as JSON."""
