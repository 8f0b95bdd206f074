"""The estimators, as scikit-learn has them."""
