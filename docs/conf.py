"""The documentation as a site: Sphinx, with pages in Markdown. `make docs` builds it; a warning is an error."""

import sys
from pathlib import Path

from pygments.lexers.special import TextLexer

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "site"), str(HERE.parent)]

import reference  # noqa: E402

import likewise  # noqa: E402

project = "likewise"
author = "the likewise authors"
copyright = author
version = release = likewise.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx-mathjax-offline",
]
exclude_patterns = ["_build", "site"]
myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 4
# Tutorials run when the site is built: what they show is what they give.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True
nb_mime_priority_overrides = [("html", "image/png", 0)]

autodoc_typehints = "none"
autodoc_member_order = "bysource"
default_role = "code"
nitpicky = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = f"likewise {release}"
html_static_path = ["site/static"]
html_css_files = ["likewise.css"]
html_show_sphinx = False
html_copy_source = False


def setup(app):
    app.add_lexer("mermaid", TextLexer)
    app.connect("builder-inited", lambda app: reference.write(HERE / "reference"))
    app.connect("autodoc-process-docstring", reference.to_rst)
