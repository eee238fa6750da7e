"""`python -m likewise`: the command line.

Python looks for modules in the working directory first, and a folder of data is no place for them. What it loads before
it comes here, this package included, it still finds there; `likewise` and `python -P -m likewise` look nowhere else.
"""

import os
import sys

if __name__ == "__main__":
    home = os.path.dirname(os.path.dirname(__file__))
    if not sys.flags.safe_path and sys.path[0] == os.getcwd() != home:
        del sys.path[0]
    from likewise.cli.main import main

    main()
