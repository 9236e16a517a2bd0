"""The notebook of published figures: every cell runs, and its assertions hold."""

import json

import matplotlib
import pytest

from common import ROOT


@pytest.fixture
def plots():
    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.close("all")
    yield pyplot
    pyplot.close("all")


def test_each_cell_runs(plots):
    notebook = json.loads((ROOT / "docs/published-figures.ipynb").read_text(encoding="utf-8"))
    names = {"__name__": "notebook"}
    for number, cell in enumerate(notebook["cells"]):
        assert not cell.get("outputs"), "cells are committed without outputs"
        if cell["cell_type"] == "code":
            source = "".join(cell["source"])
            exec(compile(source, f"cell {number} of docs/published-figures.ipynb", "exec"), names)
    # One for each of the four documents, and one of the RFC.
    figures = [plots.figure(number) for number in plots.get_fignums()]
    assert len(figures) == 5
    for figure in figures:
        figure.canvas.draw()
        assert all(axes.has_data() for axes in figure.axes)
