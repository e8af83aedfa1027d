"""What `rng` may be, wherever something is drawn, and the draw that all others rest on."""

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import describe, invalid

__all__ = ["Rng", "as_generator", "draw_picks"]

Rng = np.random.Generator | int | None


def as_generator(rng: Rng, owner: str) -> np.random.Generator:
    """Return the generator to draw from, or to spawn from."""
    try:
        generator = np.random.default_rng(rng)
        generator.spawn(0)
    except (TypeError, ValueError) as error:
        hint = "numpy.random.default_rng(seed) makes a Generator."
        expected = "be a Generator that can spawn, a whole number or None"
        raise invalid("rng", owner, expected, describe(rng), hint) from error
    return generator


def draw_picks(n: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Pick n times with replacement from n things; return how often each was picked."""
    return np.bincount(rng.integers(0, n, size=n), minlength=n)
