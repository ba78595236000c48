"""Finds the pictures of the examples."""

from typing import Any

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst


def figures_of(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Return the pictures of a block of an example: the figures that it gives names to."""
    drawn = block_vars["example_globals"]
    paths = []
    for name in block[1].split("\n"):
        figure = drawn.get(name.split(" = ")[0].split(",")[0])
        if isinstance(figure, Figure):
            paths.append(next(block_vars["image_path_iterator"]))
            figure.savefig(paths[-1], dpi=150)
    return figure_rst(paths, gallery_conf["src_dir"])
