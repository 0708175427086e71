"""Claims what is due, decides, commits: nothing sweeps, everything that happens later is a row in the queue."""
