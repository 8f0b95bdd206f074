"""K-means: clusterings, how they are found, and proofs of how good they are."""
