"""OpenShift versions: numbers, CPU architectures, the release catalogue and the feature support table."""
