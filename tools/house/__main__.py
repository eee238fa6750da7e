"""Print the house; `--docs` writes a small part into docs/architecture.md, `--check` judges that page."""

from __future__ import annotations

import argparse

from tools.house.page import faults, rewrite, whole
from tools.house.source import read_package, repeated_classes, single_importers, vague
from tools.house.ways import WAYS, walk


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.house", description=__doc__)
    parser.add_argument("--docs", action="store_true", help="make the table of docs/architecture.md anew")
    parser.add_argument("--check", action="store_true", help="fail where the page names what is gone")
    parser.add_argument(
        "--names", action="store_true", help="list modules with one importer, repeated classes, files by vague names"
    )
    options = parser.parse_args()
    if options.docs:
        rewrite()
    if options.check and (wrong := faults()):
        raise SystemExit("\n".join([*wrong, "Remedy: python -m tools.house --docs, then mend the page's text."]))
    if options.names:
        for module, importer in single_importers(read_package()).items():
            print(f"{module} is imported by {importer} alone")
        for name, files in repeated_classes(read_package()).items():
            print(f"class {name} stands in {', '.join(files)}")
        for source in sorted(read_package(), key=lambda source: -len(vague(source))):
            if names := vague(source):
                print(f"{source.name}: {len(names)} of {len(source.bindings)} names say nothing")
    if not (options.docs or options.check or options.names):
        print(whole(read_package(), {name: walk(name) for name in WAYS}))


if __name__ == "__main__":
    main()
