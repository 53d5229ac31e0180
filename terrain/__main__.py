"""`python -m terrain`."""

from terrain.cli import main

main()
