"""The templates of reports: HTML in which every text of a table is escaped, and a name that is missing is an error."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template


def template(file: str, **known: Any) -> Template:
    """The template in a file of this folder, which knows these functions and constants in all of its parts."""
    environment = Environment(
        loader=PackageLoader("likewise.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(known)
    return environment.get_template(file)
