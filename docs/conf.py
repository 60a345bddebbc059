"""How the documentation is built: offline, from Markdown, with every warning an error."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

from noren import __version__

project = "Noren"
author = "the Noren developers"
project_copyright = author
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "noren_reference"]
exclude_patterns = ["_build", "_ext"]
source_suffix = {".md": "markdown"}
default_role = "code"  # docstrings write names in single backticks
smartquotes = False  # they would turn the dashes of --json into one

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
add_module_names = False
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = f"Noren {release}"
html_static_path = ["_static"]
html_css_files = ["look.css"]
html_copy_source = False
html_show_sphinx = False
