"""
The phase of a rhythm
=====================

A noisy rhythm, seen through a window of its recent past, is a loop in the space of windows. The angle around the
loop is its phase.
"""

import matplotlib.pyplot as plt
import numpy as np

from sknomad import NOMAD

t = np.arange(170)
beat = np.sin(2 * np.pi * t / 37) + 0.5 * np.sin(4 * np.pi * t / 37 + 1)
series = beat + 0.15 * np.random.default_rng(0).standard_normal(len(t))
windows = np.lib.stride_tricks.sliding_window_view(series, 20)

model = NOMAD(K=12).fit(windows)
print(f"closed: {model.is_closed_}, {model.certificate_}")

# %%
# Above the series, below the phase at the end of every window: it goes round once in each period.

figure, (above, below) = plt.subplots(2, 1, figsize=(8, 4.2), sharex=True, layout="constrained")
above.plot(t, series, color="0.3")
above.set_title("series")
below.scatter(t[19:], model.circular_coordinates_, c=model.circular_coordinates_, cmap="twilight", s=14)
below.set(xlabel="time", title="phase found")
plt.show()
