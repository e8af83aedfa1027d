"""The version of the package, in one place."""

__version__ = "0.3.0.dev0"
