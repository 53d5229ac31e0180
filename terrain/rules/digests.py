"""blake2b as `hashlib` has it, without the OpenSSL that `hashlib` loads beside it.

That is 4 MB in the reading process, which needs nothing else of it.
"""

try:
    from _blake2 import blake2b
except ImportError:  # another interpreter than CPython
    from hashlib import blake2b

__all__ = ["blake2b"]
