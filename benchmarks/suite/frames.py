"""Data frames: categories against a sort of the scores, texts against pandas' own factorize."""

import numpy as np

import bosaris_py as bp
from suite import _operation


class FrameOfCategories(_operation.Operation):
    """Key and scores of a data frame whose ids are categories."""

    params = (_operation.SIZES, ("in order", "shuffled"))
    param_names = ("scores", "rows")
    plain_name = "numpy.sort of its scores"
    dtype = "category"

    def setup(self, n_scores, rows):
        import pandas as pd

        rng = np.random.default_rng(0)
        shape = _operation.SHAPES[n_scores]
        cells = rng.permutation(n_scores) if rows == "shuffled" else np.arange(n_scores)
        columns = {}
        for name, codes, size in zip(
            ("model", "segment"), np.divmod(cells, shape[1]), shape, strict=True
        ):
            levels = [f"{name}-{i:06d}" for i in range(size)]
            columns[name] = pd.Categorical.from_codes(codes, levels).astype(self.dtype)
        is_target = rng.random(n_scores) < 0.01
        self.df = pd.DataFrame(columns | {"label": is_target, "score": rng.normal(size=n_scores)})

    def call(self):
        return bp.from_frame(self.df)

    def plain(self):
        return np.sort(self.df["score"].to_numpy())


class FrameOfTexts(FrameOfCategories):
    """The same where the ids are texts."""

    plain_name = "factorize of both id columns"
    dtype = "str"

    def plain(self):
        return self.df["model"].factorize(), self.df["segment"].factorize()
