"""The "new cluster" of the laboratory: a real etcd, kube-apiserver and kube-controller-manager, and three stand-ins.

What stands in for something is named so: `bootkube` (starts the control plane from our own bootstrap.ign),
`machine_configs` (the machine-config server) and `joiner` (what a kubelet does on the wire).
"""
