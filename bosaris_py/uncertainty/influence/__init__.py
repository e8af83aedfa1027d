"""What each speaker does to a metric: standard errors in closed form and by the jackknife."""
