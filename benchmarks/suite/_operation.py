"""What all benchmarks share: sizes, data, and the names under which asv finds them."""

from typing import Any, ClassVar

import numpy as np

SIZES = (10**4, 10**5, 10**6, 10**7)
"""Numbers of scores; one in a hundred is a target."""

SHAPES = {10**4: (100, 100), 10**5: (200, 500), 10**6: (1000, 1000), 10**7: (2500, 4000)}
"""Models and segments of score matrices."""


def gaussian_scores(n_scores: int, n_systems: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return scores with an EER near 7 %, not calibrated; of several systems in rows."""
    rng = np.random.default_rng(0)
    n_tar = max(n_scores // 100, 2)
    lead = () if n_systems is None else (n_systems,)
    return rng.normal(3.0, 1.0, (*lead, n_tar)), rng.normal(0.0, 1.0, (*lead, n_scores - n_tar))


class Operation:
    """One operation, at several sizes.

    A benchmark overrides `call`, and where it needs other data `setup`. asv runs the
    ``time_`` and ``peakmem_`` methods; `plain` is what ``run.py`` compares the time with.
    """

    params: ClassVar[tuple[Any, ...]] = (SIZES,)
    param_names: ClassVar[tuple[str, ...]] = ("scores",)
    timeout = 600.0

    plain_name = "numpy.sort(non)"
    # How many times the work of `plain` is the work that `call` does.
    plain_share = 1.0

    def setup(self, n_scores: int) -> None:
        self.tar, self.non = gaussian_scores(n_scores)

    def call(self) -> object:
        """Do it once."""
        raise NotImplementedError

    def plain(self) -> object:
        """Do something of the same size that everybody knows."""
        return np.sort(self.non)

    def time_call(self, *_: object) -> None:
        self.call()

    def peakmem_call(self, *_: object) -> None:
        self.call()


class OfClasses(Operation):
    """An operation on two lists of scores, in both precisions."""

    params = (SIZES, ("float64", "float32"))
    param_names = ("scores", "type")

    def setup(self, n_scores: int, dtype: str) -> None:
        super().setup(n_scores)
        self.tar, self.non = self.tar.astype(dtype), self.non.astype(dtype)
