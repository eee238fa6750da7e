"""The package as it stands in its files: rooms, tokens, imports, names and numbers. Nothing is imported or run."""

from __future__ import annotations

import ast
import io
import tokenize
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "likewise"
DOOR = "the door"
CODE = (tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING)
# Names that say nothing of what they are bound to.
VAGUE = frozenset(
    ("found", "one", "each", "own", "known", "kept", "made", "given", "some", "told", "few", "others", "whole")
)
# Numbers that are structure and no choice.
PLAIN = frozenset((0, 1, 2, -1, 0.5))


@dataclass(frozen=True)
class Import:
    """A line that imports from the package itself."""

    room: str
    module: str


@dataclass(frozen=True)
class Source:
    """One file of the package."""

    path: Path

    @property
    def name(self) -> str:
        """The path below the package, e.g. `model/scores.py`."""
        return self.path.relative_to(PACKAGE).as_posix()

    @property
    def module(self) -> str:
        """The name it is imported by, e.g. `likewise.model.scores`."""
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

    @cached_property
    def tokens(self) -> int:
        """Names, operators, numbers and strings, but for docstrings."""
        documented = set(_docstring_lines(self.tree))
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        return sum(token.type in CODE and token.start[0] not in documented for token in tokens)

    @cached_property
    def imports(self) -> list[Import]:
        """The imports of the package's own modules."""
        modules = (module.split(".") for node in ast.walk(self.tree) for module in _modules(node))
        return [Import(_room(rest), ".".join(["likewise", *rest])) for first, *rest in modules if first == "likewise"]

    @cached_property
    def classes(self) -> list[str]:
        return [node.name for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef)]

    @cached_property
    def bindings(self) -> list[str]:
        """Every name that is bound to something, as often as it is."""
        names = (node for node in ast.walk(self.tree) if isinstance(node, ast.Name))
        return [node.id for node in names if isinstance(node.ctx, ast.Store)]

    @cached_property
    def constants(self) -> list[tuple[str, ast.expr]]:
        """Names in upper case and what they are bound to."""
        return [(name, value) for node in ast.walk(self.tree) for name, value in _bound(node) if name.isupper()]

    @property
    def numeric(self) -> int:
        """How many of the constants are a number."""
        return sum(_is_number(value) for _, value in self.constants)

    @property
    def literals(self) -> int:
        """How many numbers stand in the code, but for 0, 1, 2 and ½."""
        values = (node.value for node in ast.walk(self.tree) if isinstance(node, ast.Constant) and _is_number(node))
        return sum(value not in PLAIN for value in values)


def _room(parts: list[str]) -> str:
    named = len(parts) > 1 or parts == ["errors"] or (len(parts) == 1 and (PACKAGE / parts[0]).is_dir())
    return parts[0] if named else DOOR


def _modules(node: ast.AST) -> list[str]:
    """The modules that a line imports from; `from likewise.run import loop` imports from `likewise.run.loop`."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom) or not node.module:
        return []
    inside = [f"{node.module}.{alias.name}" for alias in node.names]
    modules = [name for name in inside if node.module == "likewise" or _is_module(name)]
    return modules if len(modules) == len(inside) else [*modules, node.module]


def _is_module(name: str) -> bool:
    return PACKAGE.joinpath(*name.split(".")[1:]).with_suffix(".py").exists()


def _docstring_lines(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        match getattr(node, "body", None):
            case [ast.Expr(ast.Constant(str())) as first, *_]:
                yield from range(first.lineno, (first.end_lineno or first.lineno) + 1)


def _bound(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names of an assignment, each with its value."""
    match node:
        case ast.AnnAssign(ast.Name(name), value=ast.expr() as value):
            yield name, value
        case ast.Assign(targets, value):
            for target in targets:
                match target, value:
                    case ast.Name(name), _:
                        yield name, value
                    case ast.Tuple(names), ast.Tuple(values):
                        yield from ((n.id, v) for n, v in zip(names, values, strict=False) if isinstance(n, ast.Name))


def _is_number(node: ast.AST) -> bool:
    match node:
        case ast.Constant(value):
            return isinstance(value, int | float) and not isinstance(value, bool)
        case ast.UnaryOp(operand=inner):
            return _is_number(inner)
        case ast.BinOp(left, _, right):
            return _is_number(left) and _is_number(right)
    return False


@cache
def read_package() -> list[Source]:
    """Every file of the package, by name."""
    return [Source(path) for path in sorted(PACKAGE.rglob("*.py"))]


def rooms(sources: Iterable[Source]) -> list[str]:
    """The rooms in the order of the import contract, from top to bottom, then what it does not name."""
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    layers = next(c["layers"] for c in tools["importlinter"]["contracts"] if c["type"] == "layers")
    there = {source.room for source in sources}
    named = [room.strip().removeprefix("likewise.") for row in layers for room in row.split("|")]
    ordered = [room for room in named if room in there]
    return [*ordered, *sorted(there - {*ordered, DOOR}), DOOR]


def single_importers(sources: Iterable[Source]) -> dict[str, str]:
    """The modules that exactly one other imports, with that one: they may be halves of a file.

    An `__init__.py` does not count: it only says where names are.
    """
    importers = defaultdict(set)
    for source in sources:
        for line in source.imports if source.path.stem != "__init__" else ():
            importers[line.module].add(source.module)
    modules = {source.module for source in sources}
    return {module: min(who) for module, who in sorted(importers.items()) if len(who) == 1 and module in modules}


def repeated_classes(sources: Iterable[Source]) -> dict[str, list[str]]:
    """The names of classes that stand in more than one module, with the files."""
    places = defaultdict(set)
    for source in sources:
        for name in source.classes:
            places[name].add(source.name)
    return {name: sorted(files) for name, files in sorted(places.items()) if len(files) > 1}


def vague(source: Source) -> list[str]:
    """The bindings whose name says nothing."""
    return [name for name in source.bindings if name in VAGUE]


def vagueness(sources: Iterable[Source]) -> float:
    """The share of all bindings whose name says nothing."""
    counts = [(len(vague(source)), len(source.bindings)) for source in sources]
    return sum(count for count, _ in counts) / max(1, sum(count for _, count in counts))
