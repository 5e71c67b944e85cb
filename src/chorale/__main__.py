"""`python -m chorale`: the command line."""

from chorale.cli import main

main()
