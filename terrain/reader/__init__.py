"""Reading pages: here while there are few, in a process of its own when there are many."""
