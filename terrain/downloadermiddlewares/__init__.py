"""Thin shells over the rules: what an answer means for its request."""
