"""Print the house; `--docs` writes it into docs/architecture.md, `--check` judges that page."""

from __future__ import annotations

import argparse

from tools.house.page import faults, render, rewrite
from tools.house.source import read_package, repeated_classes, single_importers
from tools.house.ways import WAYS, walk


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.house", description=__doc__)
    parser.add_argument("--docs", action="store_true", help="make the generated part of docs/architecture.md anew")
    parser.add_argument("--check", action="store_true", help="fail where the page does not fit the rooms and imports")
    parser.add_argument("--names", action="store_true", help="name the modules with one importer and repeated classes")
    options = parser.parse_args()
    if options.docs:
        rewrite()
    if options.check and (wrong := faults()):
        raise SystemExit(
            "\n".join([*sorted(wrong), "Remedy: python -m tools.house --docs, then mend the page's text."])
        )
    if options.names:
        for module, importer in single_importers(read_package()).items():
            print(f"{module} is imported by {importer} alone")
        for name, files in repeated_classes(read_package()).items():
            print(f"class {name} stands in {', '.join(files)}")
    if not (options.docs or options.check or options.names):
        print(render(read_package(), {name: walk(name) for name in WAYS}))


if __name__ == "__main__":
    main()
