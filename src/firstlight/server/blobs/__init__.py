"""Where files are kept: a folder or an S3 bucket."""
