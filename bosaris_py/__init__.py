"""Calibrate, fuse and judge binary detectors whose scores are log-likelihood-ratios."""
