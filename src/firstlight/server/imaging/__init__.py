"""The image service: discovery images, streamed. It knows the rest of Firstlight only over HTTP."""
