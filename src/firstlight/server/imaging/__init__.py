"""The image service: discovery images, streamed."""
