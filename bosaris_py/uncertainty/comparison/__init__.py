"""Two systems on the same trials, and all pairs of several."""
