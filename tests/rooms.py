"""What the house allows, checked on the syntax trees of its modules: who imports what, cycles, sizes.

Everything takes modules as `{name: source}`, so that tests can feed it modules that break a rule.
"""

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = "chorale"
SEES_THE_WORLD = frozenset({"open", "input", "print", "exec", "eval", "__import__"})


@dataclass(frozen=True, slots=True)
class Import:
    importer: str
    target: str
    line: int
    for_types: bool
    """Only under `if TYPE_CHECKING`: nothing happens when the program runs."""
    in_function: bool

    def __str__(self) -> str:
        return f"{self.importer}, line {self.line}: imports {self.target}"


def read_modules(package: Path) -> dict[str, str]:
    """The source of every module of a package, by its full name."""
    modules = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path.read_text("utf-8")
    return modules


def room_of(module: str) -> str:
    """The package right below `chorale` that a module is in; the package itself is in none."""
    return module.split(".")[1] if module.count(".") else ""


def is_within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


@dataclass(frozen=True, slots=True)
class _Seen:
    """What the checks need of a module: its tree is walked once, and not kept."""

    imports: list[tuple[list[str], int, bool, bool]]
    """Names imported (`package.name` where a package may have it), line, only for types, within a function."""
    calls: list[tuple[str, int]]
    texts: list[tuple[str, int]]
    docstrings: set[str]
    names: set[str]
    """What the code calls something, itself or what it uses."""
    functions: list[tuple[str, int]]
    """Full names within the module, and their lines."""


@cache
def _seen(source: str) -> _Seen:
    seen = _Seen([], [], [], set(), set(), [])
    _look(ast.parse(source), seen, "", for_types=False, in_function=False)
    return seen


def _look(node: ast.AST, seen: _Seen, within: str, *, for_types: bool, in_function: bool) -> None:
    for child in ast.iter_child_nodes(node):
        name, types, function = within, for_types, in_function
        if not isinstance(child, ast.Constant):
            seen.names.update(value for _, value in ast.iter_fields(child) if isinstance(value, str))
        match child:
            case ast.Expr(value=ast.Constant(value=str(text))):
                seen.docstrings.add(text)
            case ast.Import(names=names):
                seen.imports.extend(([alias.name], child.lineno, for_types, in_function) for alias in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                full = [f"{module}.{alias.name}" for alias in names]
                seen.imports.append(([module, *full], child.lineno, for_types, in_function))
            case ast.ImportFrom():
                seen.imports.append((["."], child.lineno, for_types, in_function))
            case ast.Call(func=ast.Name(id=called)):
                seen.calls.append((called, child.lineno))
            case ast.Constant(value=str(text)):
                seen.texts.append((text, child.lineno))
            case ast.If():
                types = for_types or "TYPE_CHECKING" in ast.unparse(child.test)
            case ast.Lambda():
                function = True
            case ast.ClassDef():
                name = f"{within}.{child.name}"
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                name, function = f"{within}.{child.name}", True
                seen.functions.append((name, (child.end_lineno or child.lineno) - child.lineno + 1))
        _look(child, seen, name, for_types=types, in_function=function)


def imports_of(modules: Mapping[str, str]) -> Iterator[Import]:
    for name, source in modules.items():
        for (package, *names), line, for_types, in_function in _seen(source).imports:
            # What a package hands on is the package's; what is a module of its own is that module.
            for target in sorted({each if each in modules else package for each in names or [package]}):
                yield Import(name, target, line, for_types, in_function)


def impure(modules: Mapping[str, str], allowed: Mapping[str, Collection[str]]) -> Iterator[str]:
    """Imports and calls by which a pure room could see or change the world. `allowed`: modules, by room or package."""

    def pure_part(module: str) -> str | None:
        return next((part for part in allowed if is_within(module, f"{ROOT}.{part}")), None)

    for found in imports_of(modules):
        room = pure_part(found.importer)
        if room is None or found.for_types or is_within(found.target, ROOT):
            continue
        if not any(is_within(found.target, name) for name in allowed[room]):
            yield f"{found}, which `{room}` may not: it is pure"
    for name, source in modules.items():
        if (room := pure_part(name)) is not None:
            for called, line in _seen(source).calls:
                if called in SEES_THE_WORLD:
                    yield f"{name}, line {line}: calls {called}, which `{room}` may not: it is pure"


def misplaced(modules: Mapping[str, str], only_in: Mapping[str, str], kits: str) -> Iterator[str]:
    """Libraries imported outside of the one room that may, also where it is only for types.

    A kit may have a package of the room's name, for what it keeps there.
    """
    for found in imports_of(modules):
        room = only_in.get(found.target.split(".")[0])
        of_kit = is_within(found.importer, kits) and found.importer.removeprefix(f"{kits}.").split(".")[1:2] == [room]
        if room is not None and room_of(found.importer) != room and not of_kit:
            yield f"{found}, which only `{room}` may"


def kit_entanglements(modules: Mapping[str, str], needs: Mapping[str, Collection[str]], kits: str) -> Iterator[str]:
    """Core that knows a kit, by an import or by its name in a text, and kits that know each other undeclared."""

    def may(importer: str, target: str) -> bool:
        kit = target.removeprefix(f"{kits}.").split(".")[0]
        if not is_within(importer, kits):
            return False
        own = importer.removeprefix(kits).lstrip(".").split(".")[0]
        return own == kit or kit in needs.get(own, ())

    for found in imports_of(modules):
        if found.target.startswith(f"{kits}.") and not may(found.importer, found.target):
            yield f"{found}: core knows no kit, and kits know only those they declare"
    for name, source in modules.items():
        for text, line in _seen(source).texts:
            if text.startswith(f"{kits}.") and not may(name, text):
                yield f"{name}, line {line}: names {text}: core knows no kit"


def kits_named(
    modules: Mapping[str, str], names: Collection[str], ordinary: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Modules whose code has a name of a kit's, and the name: in a name of its own, or in a text that is no docstring.

    Those that are `ordinary` words, too, count only as a whole text, or quoted in one.
    """
    for module, source in modules.items():
        seen = _seen(source)
        texts = [text.replace("_", " ") for text, _ in seen.texts if text not in seen.docstrings]
        words = {word for text in texts for word in re.findall(r"[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*", text)}
        words |= {word.lower() for name in seen.names for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+", name)}
        alone = set(texts) | {word for text in texts for _, word in re.findall(r"([\"'`])([\w-]+)\1", text)}
        for name in sorted(names):
            if name in (alone if name in ordinary else words):
                yield module, name


def cycles(modules: Mapping[str, str]) -> list[list[str]]:
    """Modules that import each other in a circle when the program runs, also from within functions."""
    follows: dict[str, set[str]] = {name: set() for name in modules}
    for found in imports_of(modules):
        if found.target in modules and found.target != found.importer and not found.for_types:
            follows[found.importer].add(found.target)
    return [sorted(circle) for circle in _circles(follows)]


def _circles(follows: Mapping[str, Collection[str]]) -> Iterator[list[str]]:
    """Tarjan's strongly connected components of more than one module."""
    index: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_modules: list[str] = []
    for start in follows:
        if start in index:
            continue
        path = [(start, iter(follows[start]))]
        index[start] = lowest[start] = len(index)
        open_modules.append(start)
        while path:
            name, rest = path[-1]
            for after in rest:
                if after not in index:
                    index[after] = lowest[after] = len(index)
                    open_modules.append(after)
                    path.append((after, iter(follows[after])))
                    break
                if after in open_modules:
                    lowest[name] = min(lowest[name], index[after])
            else:
                path.pop()
                if path:
                    lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[name])
                if lowest[name] == index[name]:
                    at = open_modules.index(name)
                    circle, open_modules[at:] = open_modules[at:], []
                    if len(circle) > 1:
                        yield circle


def class_names_with_several_meanings(modules: Mapping[str, str]) -> Iterator[str]:
    """Classes of one name in several modules: a reader cannot tell which is meant."""
    where: dict[str, list[str]] = {}
    for module, source in modules.items():
        for name in re.findall(r"^class (\w+)", source, re.MULTILINE):
            where.setdefault(name, []).append(module)
    return (f"{name}: {', '.join(sorted(defined))}" for name, defined in sorted(where.items()) if len(defined) > 1)


def lines_of_modules(modules: Mapping[str, str]) -> dict[str, int]:
    return {name: len(source.splitlines()) for name, source in modules.items()}


def lines_of_functions(modules: Mapping[str, str]) -> dict[str, int]:
    """From `def` to the last line; a name that is there several times counts with its longest."""
    lines: dict[str, int] = {}
    for module, source in modules.items():
        for name, size in _seen(source).functions:
            lines[module + name] = max(lines.get(module + name, 0), size)
    return lines


def beyond(sizes: Mapping[str, int], most: int, left: Mapping[str, int]) -> Iterator[str]:
    """What is larger than allowed, or than it was, and entries of the list of exceptions that are no longer needed."""
    for name, size in sizes.items():
        if size > left.get(name, most):
            yield f"{name} has {size} lines, at most {left.get(name, most)} are allowed"
    for name in left:
        if sizes.get(name, 0) <= most:
            yield f"{name} is no longer too long: take it off the list"


def imports_in_functions(modules: Mapping[str, str], free: Collection[str]) -> list[Import]:
    """Imports within functions of anything but the packages that may be imported late."""
    return [found for found in imports_of(modules) if found.in_function and found.target.split(".")[0] not in free]


def lasting_names(modules: Mapping[str, str], names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Module and name where one of the names is given to anything that lives longer than a line.

    That is everything but variables of comprehensions and lambdas: other variables, parameters, attributes, functions.
    """
    for module, source in modules.items():
        pending: list[ast.AST] = [ast.parse(source)]
        while pending:
            node = pending.pop()
            match node:
                case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp() | ast.Lambda():
                    continue
                case (
                    ast.Name(id=name, ctx=ast.Store())
                    | ast.Attribute(attr=name, ctx=ast.Store())
                    | ast.arg(arg=name)
                    | ast.FunctionDef(name=name)
                    | ast.AsyncFunctionDef(name=name)
                ) if name in names:
                    yield module, name
            pending += ast.iter_child_nodes(node)
