"""The type stubs say what the package has, and each part has a docstring."""

import ast
import inspect
from importlib.resources import files

import fathom
import pytest
from fathom import _fathom

STUB = ast.parse((files("fathom") / "_fathom.pyi").read_text(encoding="utf-8"))
PUBLIC = [node for node in STUB.body if not getattr(node, "name", "").startswith("_")]
FUNCTIONS = {node.name: node for node in PUBLIC if isinstance(node, ast.FunctionDef)}
CLASSES = {node.name: node for node in PUBLIC if isinstance(node, ast.ClassDef)}


def members(node):
    functions = {part.name: part for part in node.body if isinstance(part, ast.FunctionDef)}
    return functions | {part.target.id: part for part in node.body if isinstance(part, ast.AnnAssign)}


def is_property(node):
    return isinstance(node, ast.AnnAssign) or any(isinstance(name, ast.Name) and name.id == "property" for name in node.decorator_list)


def parameters(node):
    """Names, kinds and defaults of a function in the stub."""
    stub = ast.unparse(ast.fix_missing_locations(ast.Module([without_types(node)], [])))
    names = {}
    exec(stub, names)
    return [(p.name, p.kind, p.default) for p in inspect.signature(names[node.name]).parameters.values()]


def without_types(node):
    node = ast.parse(ast.unparse(node)).body[0]
    node.returns, node.decorator_list = None, []
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    return node


def actual(function):
    return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]


def test_the_package_is_typed():
    assert (files("fathom") / "py.typed").is_file()
    public = {name for name in dir(_fathom) if not name.startswith("_")}
    assert public == {*FUNCTIONS, *CLASSES, "VERSION"}
    assert set(fathom.__all__) <= set(dir(fathom))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_has_the_parameters_of_its_stub(name):
    function = getattr(fathom, name)
    assert actual(function) == parameters(FUNCTIONS[name])
    assert len(function.__doc__) > 100


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_has_the_members_of_its_stub(name):
    kind, stub = getattr(fathom, name), members(CLASSES[name])
    public = {member for member in vars(kind) if not member.startswith("_")}
    assert public == {member for member in stub if not member.startswith("_")}
    assert kind.__doc__
    for member, node in stub.items():
        if member == "__len__":
            continue
        assert getattr(kind, member).__doc__, f"{name}.{member} has no docstring"
        if not is_property(node):
            assert actual(getattr(kind, member)) == [("self", inspect.Parameter.POSITIONAL_ONLY, inspect._empty)] + [
                parameter for parameter in parameters(node) if parameter[0] != "self"
            ]
