"""The package as it stands in its files: rooms, lines of code, imports and functions. Nothing is imported or run."""

from __future__ import annotations

import ast
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "likewise"
DOOR = "the door"
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Import:
    """A line that imports from the package itself."""

    room: str
    module: str
    line: int
    within_function: bool


@dataclass(frozen=True)
class Source:
    """One file of the package."""

    path: Path

    @property
    def name(self) -> str:
        """The path below the package, e.g. `model/gram.py`."""
        return self.path.relative_to(PACKAGE).as_posix()

    @property
    def module(self) -> str:
        """The name it is imported by, e.g. `likewise.model.gram`."""
        return ".".join(["likewise", *self.name.removesuffix(".py").split("/")])

    @property
    def room(self) -> str:
        """The folder below the package, or `errors`; what else lies beside the rooms is the door."""
        return _room(self.name.removesuffix(".py").split("/"))

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())

    @cached_property
    def code(self) -> int:
        """Lines that are neither blank nor comment nor docstring."""
        documented = set(_docstring_lines(self.tree))
        lines = enumerate((line.strip() for line in self.text.splitlines()), start=1)
        return sum(bool(line) and not line.startswith("#") and i not in documented for i, line in lines)

    @cached_property
    def imports(self) -> list[Import]:
        """The imports of the package's own modules."""
        inner = {id(node) for function in self.functions for node in ast.walk(function)}
        found = ((node, module) for node in ast.walk(self.tree) for module in _modules(node))
        own = ((node, module.split(".")[1:]) for node, module in found if module.split(".")[0] == "likewise")
        return [
            Import(_room(parts), ".".join(["likewise", *parts]), node.lineno, id(node) in inner)  # type: ignore[attr-defined]
            for node, parts in own
        ]

    @cached_property
    def functions(self) -> list[Function]:
        return [node for node in ast.walk(self.tree) if isinstance(node, Function)]


def _room(parts: list[str]) -> str:
    named = len(parts) > 1 or parts == ["errors"] or (len(parts) == 1 and (PACKAGE / parts[0]).is_dir())
    return parts[0] if named else DOOR


def _modules(node: ast.AST) -> list[str]:
    """The modules that a line imports from; `from likewise import x` imports from `likewise.x`."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module == "likewise":
        return [f"likewise.{alias.name}" for alias in node.names]
    return [node.module] if isinstance(node, ast.ImportFrom) and node.module else []


def _docstring_lines(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | Function) and ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            yield from range(first.lineno, (first.end_lineno or first.lineno) + 1)


@cache
def read_package() -> list[Source]:
    """Every file of the package, by name."""
    return [Source(path) for path in sorted(PACKAGE.rglob("*.py"))]


@cache
def contract() -> dict[str, list[str]]:
    """The import contract in pyproject.toml."""
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    return next(c for c in tools["importlinter"]["contracts"] if c["type"] == "layers")


def layers() -> list[list[str]]:
    """The rooms from top to bottom, by the import contract; rooms side by side share a row."""
    return [[room.strip().removeprefix("likewise.") for room in row.split("|")] for row in contract()["layers"]]


def rooms(sources: Iterable[Source]) -> list[str]:
    """The rooms in the order of the layers, then what no layer names."""
    there = {source.room for source in sources}
    ordered = [room for row in layers() for room in row if room in there]
    return [*ordered, *sorted(there - {*ordered, DOOR}), DOOR]


def passages(sources: Iterable[Source]) -> Counter[tuple[str, str]]:
    """How many lines of one room import from another, but for those that the contract lets through."""
    through = set(contract().get("ignore_imports", ()))
    return Counter(
        (source.room, line.room)
        for source in sources
        for line in source.imports
        if line.room != source.room and f"{source.module} -> {line.module}" not in through
    )


def upward(sources: Iterable[Source]) -> list[str]:
    """The passages that lead to a room of the same or a higher layer: there should be none."""
    height = {room: i for i, row in enumerate(reversed(layers())) for room in row}
    return [f"{a} → {b}" for a, b in passages(sources) if a in height and b in height and height[b] >= height[a]]
