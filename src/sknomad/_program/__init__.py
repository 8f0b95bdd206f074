"""The question: data become a `Gram`, and a `Gram` and ``K`` make a `KMeansSDP`."""
