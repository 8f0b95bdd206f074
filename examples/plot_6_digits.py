"""
Handwritten ones, in order
==========================

Laid in the order that the method finds, images of the digit 1 go from a plain stroke to one with flag and foot.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from sknomad import NOMAD

digits = load_digits()
ones = digits.data[digits.target == 1][:120] / 16
model = NOMAD(K=8).fit(ones)
print(model.certificate_)

# %%
# Every eighth image in the order along the largest manifold.

members = np.flatnonzero(model.labels_ == 0)
shown = members[np.argsort(model.order_[members])][::8]
figure, axes = plt.subplots(1, len(shown), figsize=(10, 1.2), layout="constrained")
for axis, i in zip(axes, shown, strict=True):
    axis.imshow(ones[i].reshape(8, 8), cmap="gray_r")
    axis.set_axis_off()
plt.show()
