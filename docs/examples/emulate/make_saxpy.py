"""Inputs of saxpy and what must come out of it: x.npy, y.npy, expected.npy."""

import numpy as np

random = np.random.default_rng(1)
x, y = (random.standard_normal(1000, dtype=np.float32) for _ in range(2))
np.save("x.npy", x)
np.save("y.npy", y)
np.save("expected.npy", np.float32(2.5) * x + y)
