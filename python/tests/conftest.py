# SPDX-License-Identifier: BSD-3-Clause
import os

import hypothesis
import numpy as np
import pytest

import furrow

hypothesis.settings.register_profile(
    "furrow", max_examples=int(os.environ.get("FURROW_EXAMPLES", "200")), deadline=None, derandomize=True,
    database=None, suppress_health_check=list(hypothesis.HealthCheck))
hypothesis.settings.load_profile("furrow")


@pytest.fixture
def grid():
    """A Laplacian of 20 x 20 points, and b of which x = 1 is the answer."""
    A = furrow.generate("poisson2d:20")
    return A, A @ np.ones(400)
