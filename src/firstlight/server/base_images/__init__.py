"""What the image service tells of its base images, asked over HTTP as anybody else would."""
