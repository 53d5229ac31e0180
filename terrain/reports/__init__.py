"""What a person reads: one query and one renderer each."""
