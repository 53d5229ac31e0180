"""The spider."""
