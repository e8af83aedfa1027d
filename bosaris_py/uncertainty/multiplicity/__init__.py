"""Several tests at once: corrected p-values, the largest t of all pairs, ranks of systems."""
