"""What squall is packed as: a file a format. Each has `build(contents, out)`, which returns the files that it made."""
