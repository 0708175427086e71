"""A small Kubernetes client: one connection, typed objects, and watches that never give up."""
