"""Networks as values: addresses, machine networks, VIPs, who reaches whom."""
