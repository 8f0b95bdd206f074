"""Programs too large for a dense proof: what one pass after another over the rows can do."""
