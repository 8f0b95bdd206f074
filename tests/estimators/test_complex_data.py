"""Complex numbers: the error says what to do, and does not print the table."""

import numpy as np
import pytest

from sknomad import NOMAD, CertifiedKMeans


@pytest.mark.parametrize("estimator", [NOMAD(3), CertifiedKMeans(3)], ids=lambda e: type(e).__name__)
def test_complex_numbers_are_refused_in_one_sentence(estimator):
    with pytest.raises(ValueError, match=r"^Complex data not supported: X must hold real numbers\. Pass X") as caught:
        estimator.fit(np.ones((50, 2)) * 1j)
    assert len(str(caught.value).splitlines()) == 1
