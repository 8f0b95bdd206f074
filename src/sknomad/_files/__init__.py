"""Files: arrays and JSON that are either complete and intact, or refused."""
