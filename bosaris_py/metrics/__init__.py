"""Metrics: each a number of two distributions of mass over the scores, one class a metric."""
