"""The site: ``make docs`` writes the generated pages and builds it into ``build/site``."""

from importlib.metadata import version as installed

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

project = "bitbound"
author = copyright = "The bitbound developers"  # noqa: A001
version = release = installed("bitbound")
extensions = ["myst_parser", "sphinx_gallery.gen_gallery"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = [
    "making",
    "atlas/idea.md",
    "examples",
    "**sg_execution_times.rst",
]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "bitbound"
html_static_path = ["static", "atlas/chart.css"]
html_css_files = ["chart.css", "site.css"]
html_copy_source = False


def figures_of(block, block_vars, gallery_conf):
    """Return the pictures of a block of an example: the figures that it gives names to."""
    drawn = block_vars["example_globals"]
    paths = []
    for name in block[1].split("\n"):
        figure = drawn.get(name.split(" = ")[0].split(",")[0])
        if isinstance(figure, Figure):
            paths.append(next(block_vars["image_path_iterator"]))
            figure.savefig(paths[-1], dpi=150)
    return figure_rst(paths, gallery_conf["src_dir"])


sphinx_gallery_conf = {
    "image_scrapers": (figures_of,),
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "/plot_",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 1e9,
}
