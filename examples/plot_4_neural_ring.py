"""
A ring in neural data
=====================

Forty neurons each prefer a direction. Their rates, 40 numbers at each moment, trace a ring, and the angle around
it is the direction of the head, which the method is not told.
"""

import matplotlib.pyplot as plt
import numpy as np

from sknomad import NOMAD
from sknomad.metrics import circular_rank_correlation

random = np.random.default_rng(0)
direction = random.uniform(0, 2 * np.pi, 150)
preferred = np.linspace(0, 2 * np.pi, 40, endpoint=False)
rates = np.exp(2 * np.cos(direction[:, None] - preferred)) + 0.5 * random.standard_normal((150, 40))

model = NOMAD(K=8).fit(rates)
agreement = abs(circular_rank_correlation(direction, model.circular_coordinates_))
print(f"closed: {model.is_closed_[0]}, circular rank correlation with the true direction: {agreement:.3f}")

# %%
# The embedding is a ring, coloured by the true direction; the angle found is the true one up to a turn and its sense.

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
left.scatter(*model.embedding_.T, c=direction, cmap="twilight", s=16)
left.set(aspect="equal", title="embedding, coloured by direction")
right.scatter(direction, model.circular_coordinates_, s=12, color="0.2")
right.set(xlabel="true direction", ylabel="angle found", title="decoded without labels")
plt.show()
