"""The page on the machine's own screen."""
