"""`python -m likewise`: the command line."""

from likewise.interfaces.cli import main

if __name__ == "__main__":
    main()
