"""The experiments of the paper, one file each, found by their place."""
