"""How bytes travel: the HTTP handler and its guard against private addresses."""
