"""What users ask of an evaluation: not worse, the next test set, a system in use."""
