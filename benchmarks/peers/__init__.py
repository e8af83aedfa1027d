"""The same work with several libraries, for ``compare_peers.py``.

One module for each library, imported only in the process that measures it.
"""
