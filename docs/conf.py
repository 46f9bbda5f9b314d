"""Sphinx: how `make docs` makes the site from the pages of this folder. What is run and filled in: scripts/docs_site.py."""

import sys
from pathlib import Path

import tilegpu

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

project = "tilegpu"
author = "The tilegpu authors"
copyright = "The tilegpu authors, Apache-2.0"
version = release = tilegpu.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton", "docs_site"]
myst_enable_extensions = ["colon_fence", "attrs_block"]
myst_heading_anchors = 3
exclude_patterns = ["made/**"]
suppress_warnings = ["misc.highlighting_failure"]

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_default_options = {"members": True}
autodoc_preserve_defaults = True
autodoc_type_aliases = {name: name for name in ("ArrayLike", "DTypeLike", "NDArray", "Matrix", "Vector", "Path_")}
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 90
add_module_names = False

html_theme = "furo"
html_title = "tilegpu"
html_favicon = html_logo = "_static/icon.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {"sidebar_hide_name": False, "navigation_with_keys": True}
html_copy_source = False
html_show_sphinx = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"
copybutton_selector = "div:not(.printed) > div.highlight > pre"
