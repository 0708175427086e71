"""Infra-envs: what users ask of them, where their images are found, and the files their hosts boot with."""
