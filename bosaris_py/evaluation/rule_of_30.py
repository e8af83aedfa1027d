"""Doddington's rule of 30: how small an error-rate a set of trials can still measure."""

__all__ = ["FEWEST_ERRORS", "smallest_measurable_rate"]

FEWEST_ERRORS = 30


def smallest_measurable_rate(n_trials: int) -> float:
    """Return the error-rate at which `n_trials` trials show 30 errors.

    With 30 errors, the true error-rate lies within 30 % of the observed one with
    90 % confidence, if errors are independent; with fewer, figures are hardly
    worth comparing.

    Parameters
    ----------
    n_trials : int
        Number of trials of the class that can make this error: non-targets for
        false alarms, targets for misses. Trials are counted, not their weights.

    Returns
    -------
    float
        30 / n_trials; above 1 if there are fewer than 30 trials.

    References
    ----------
    .. [1] G. R. Doddington, M. A. Przybocki, A. F. Martin and D. A. Reynolds, "The NIST
       speaker recognition evaluation - Overview, methodology, systems, results,
       perspective", Speech Communication 31, 2000, doi:10.1016/S0167-6393(99)00080-1.

    Examples
    --------
    >>> smallest_measurable_rate(30_000)
    0.001
    """
    return FEWEST_ERRORS / n_trials
