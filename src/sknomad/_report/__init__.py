"""The report of a fitted model: one page of HTML that needs nothing else."""
