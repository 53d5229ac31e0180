"""Reading pages: here while there are few, in a process of its own when there are many."""

from terrain.reader.facts import FactsOf
from terrain.reader.process import ReaderDied
from terrain.reader.reader import PageReader

__all__ = ["FactsOf", "PageReader", "ReaderDied"]
