"""The records decisions are made on: hosts, clusters, infra-envs, what agents measured, the settings that matter."""
