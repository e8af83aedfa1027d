"""Statistics that can be resampled, each with its fastest exact way."""
