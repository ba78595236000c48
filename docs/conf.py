"""The site: ``make docs`` writes the generated pages and builds it into ``build/site``."""

import sys
from importlib.metadata import version as installed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "certibit"
author = copyright = "The certibit developers"  # noqa: A001
version = release = installed("certibit")
extensions = [
    "myst_parser",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = [
    "making",
    "atlas/idea.md",
    "benchopt",
    "examples",
    "**sg_execution_times.rst",
]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "certibit"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
sphinx_gallery_conf = {
    "image_scrapers": ("making.gallery.figures_of",),
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "/plot_",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 1e9,
}
