"""The whole file: parts in a frame that can fetch nothing."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path

from noren.page.charts import look, scripts
from noren.page.parts import Part

NOT_PRIVATE_BANNER = (
    "NOT PRIVATE: noise on this page came from a seed and can be predicted. Do not release it."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Put parts into one HTML file.

    Parameters
    ----------
    title
        What the page is.
    parts
        What it shows, from top to bottom.
    lead
        A sentence under the title.
    banner
        A warning that must be seen first, such as "SECRET: stays with the data's owner".

    Examples
    --------
    >>> from noren.page import Text
    >>> page = Page(title="A < B", parts=[Text("Hello")])
    >>> "A &lt; B" in page.html()
    True
    """

    title: str
    parts: Sequence[Part]
    lead: str = ""
    banner: str = ""

    def html(self) -> str:
        """Give the file's text."""
        drawing = [scripts(), own("draw.js").replace("LOOKS", looks())]
        body = "\n".join(part.html() for part in self.parts)
        return (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{policy(drawing)}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="color-scheme" content="light dark">\n'
            f"<title>{escape(self.title)}</title>\n<style>\n{own('look.css')}</style>\n</head>\n"
            f"<body>\n<main>\n{self._banners()}<h1>{escape(self.title)}</h1>\n{self._lead()}"
            f"{body}\n</main>\n{''.join(f'<script>{script}</script>' for script in drawing)}\n"
            "</body>\n</html>\n"
        )

    def write(self, path: str | Path) -> Path:
        """Write the file and say where it is."""
        target = Path(path)
        target.write_text(self.html(), encoding="utf-8")
        return target

    def _lead(self) -> str:
        return f'<p class="lead">{escape(self.lead)}</p>\n' if self.lead else ""

    def _banners(self) -> str:
        """Warn before anything else is read."""
        private = all(part.is_private for part in self.parts)
        warnings = ([] if private else [NOT_PRIVATE_BANNER]) + (
            [self.banner] if self.banner else []
        )
        return "".join(f'<p class="banner">{escape(text)}</p>\n' for text in warnings)


def own(name: str) -> str:
    """Read a file that lies beside this one."""
    return (files("noren.page") / name).read_text(encoding="utf-8")


def looks() -> str:
    """Give both chart themes to the script."""
    return json.dumps({"light": look(dark=False), "dark": look(dark=True)})


def policy(drawing: Sequence[str]) -> str:
    """Allow this page's own scripts and inline style, and nothing from anywhere."""
    digests = (
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in drawing
    )
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:"
