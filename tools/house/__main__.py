"""Print the house; `--docs` writes it into docs/architecture.md, `--check` judges that page."""

from __future__ import annotations

import argparse

from tools.house.page import beyond_limits, faults, render, rewrite
from tools.house.source import read_package
from tools.house.ways import WAYS, walk


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.house", description=__doc__)
    parser.add_argument("--docs", action="store_true", help="make the generated part of docs/architecture.md anew")
    parser.add_argument("--check", action="store_true", help="fail where the page does not fit the rooms and imports")
    parser.add_argument("--limits", action="store_true", help="fail where a file, folder or function is too large")
    given = parser.parse_args()
    if given.docs:
        rewrite()
    if given.check and (found := faults()):
        raise SystemExit(
            "\n".join([*sorted(found), "Remedy: python -m tools.house --docs, then mend the page's text."])
        )
    if given.limits and (found := beyond_limits()):
        raise SystemExit("\n".join(found))
    if not (given.docs or given.check or given.limits):
        print(render(read_package(), {name: walk(name) for name in WAYS}))


if __name__ == "__main__":
    main()
