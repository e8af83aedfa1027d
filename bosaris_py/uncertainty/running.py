"""Drawing replicates in blocks: progress, worker processes, and repeatable randomness.

Every block of replicates draws from its own child of the random generator, and
the size of a block depends on the statistic alone. So the replicates are the
same for any number of workers, and for any order in which blocks finish.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from bosaris_py._execution import map_tasks
from bosaris_py.uncertainty.randomness import Rng, as_generator
from bosaris_py.uncertainty.samplers import Sampler

__all__ = ["Rng", "as_generator", "draw_replicates"]

Float64Array = npt.NDArray[np.float64]


def draw_replicates(
    sampler: Sampler,
    replications: int,
    rng: np.random.Generator,
    *,
    workers: int = 1,
    progress: bool = False,
) -> Float64Array:
    """Draw replicates of a statistic, block by block.

    Parameters
    ----------
    sampler : Sampler
        Draws the replicates.
    replications : int
        How many.
    rng : Generator
        Each block draws from a child of it.
    workers : int, default: 1
        Number of processes.
    progress : bool, default: False
        Show a progress bar.

    Returns
    -------
    (replications, ...) ndarray of float64
    """
    blocks = list(_blocks(sampler.block, replications, rng))
    drawn = map_tasks(
        _draw_block, sampler, blocks, workers=workers, progress=progress, label="bootstrap"
    )
    return np.concatenate(drawn)


def _blocks(
    size: int, replications: int, rng: np.random.Generator
) -> Iterator[tuple[int, np.random.Generator]]:
    """Yield the size of each block with the generator it draws from."""
    n_full, rest = divmod(replications, size)
    sizes = [size] * n_full + [rest] * bool(rest)
    yield from zip(sizes, rng.spawn(len(sizes)), strict=True)


def _draw_block(sampler: Sampler, block: tuple[int, np.random.Generator]) -> Float64Array:
    return sampler.draw(*block)
