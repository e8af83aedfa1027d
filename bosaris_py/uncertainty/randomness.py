"""What `rng` may be, wherever something is drawn."""

import numpy as np

from bosaris_py._validation import describe, invalid

__all__ = ["Rng", "as_generator"]

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
