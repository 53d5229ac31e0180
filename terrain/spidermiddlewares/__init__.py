"""What stands between spider and engine."""
