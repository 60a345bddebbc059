"""How charts look, and how they leave: as a specification in a page, as SVG or as PNG.

A chart is an Altair chart or its Vega-Lite dictionary. It should choose no colors of its own: the
theme here has a readable set for light and for dark paper, safe for color-blind readers.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from noren.errors import ParameterError

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
HEIGHT, STILL_WIDTH = 260, 640
Spec = dict[str, Any]


def look(*, dark: bool) -> Spec:
    """Give the Vega-Lite configuration for light or for dark paper."""
    ink, soft, line = (
        ("#e8e6e1", "#a9adb6", "#3a3f49") if dark else ("#22252b", "#5b616c", "#dcdfe5")
    )
    colors = DARK_COLORS if dark else LIGHT_COLORS
    return {
        "background": "transparent",
        "font": FONT,
        "view": {"stroke": "transparent"},
        "range": {"category": colors, "ramp": {"scheme": "viridis"}},
        "mark": {"color": colors[0]},
        "rule": {"color": ink},
        "text": {"color": ink, "fontSize": 12},
        "errorbar": {"color": ink},
        "title": {"color": ink, "subtitleColor": soft, "anchor": "start", "fontSize": 14},
        "axis": {
            "labelColor": soft,
            "titleColor": ink,
            "titleFontWeight": 500,
            "gridColor": line,
            "domainColor": soft,
            "tickColor": soft,
            "labelFontSize": 12,
            "titleFontSize": 12,
        },
        "axisXDiscrete": {"labelAngle": -30},
        "legend": {
            "labelColor": soft,
            "titleColor": ink,
            "orient": "top",
            "labelFontSize": 12,
            "columns": {"expr": "max(1, floor((containerSize()[0] || 640) / 160))"},  # wrap
        },
        "header": {"labelColor": soft, "titleColor": ink},
    }


LIGHT_COLORS = ["#2b5c9e", "#c4501b", "#0b7d63", "#a3761a", "#9c4a86", "#4d8fc4", "#6b7079"]
DARK_COLORS = ["#7fb2ea", "#f0935f", "#4fc9a4", "#e3bb58", "#d796c4", "#a8cdec", "#a9adb6"]


def spec_of(chart: Any) -> Spec:
    """Give a chart's specification, without the address of its schema."""
    made = dict(chart) if isinstance(chart, Mapping) else chart.to_dict()
    return {key: value for key, value in made.items() if key != "$schema"}


def responsive(chart: Any) -> Spec:
    """Let a chart that states no width fill the width it finds."""
    return filling(spec_of(chart), "container")


def filling(spec: Spec, width: int | str) -> Spec:
    """Give a single or layered chart a width, and a height if its vertical axis is a scale."""
    if spec.get("width", "container") != "container" or not {"mark", "layer"} & set(spec):
        return spec
    views = [spec, *spec.get("layer", ())]
    axes = [view.get("encoding", {}).get("y", {}) for view in views]
    tall = any(axis.get("type") in ("quantitative", "temporal") for axis in axes)
    return ({"height": HEIGHT} if tall else {}) | spec | {"width": width}


def still(chart: Any) -> str:
    """Draw a chart as SVG on white paper."""
    import vl_convert

    made = filling(spec_of(chart), STILL_WIDTH)
    return vl_convert.vegalite_to_svg(made, config=look(dark=False) | {"background": "white"})


@cache
def scripts() -> str:
    """Give the drawing scripts, whole, so that a page has nothing to fetch."""
    import vl_convert

    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")


def save_chart(chart: Any, path: str | Path) -> Path:
    """Write a chart as a file: `.svg` or `.png`, by the ending of its name.

    Parameters
    ----------
    chart
        An Altair chart, such as `answer.chart()`, or a Vega-Lite dictionary.
    path
        Where to write it.
    """
    target = Path(path)
    if target.suffix.lower() not in (".svg", ".png"):
        raise ParameterError("path", target, "a name that ends in .svg or .png", "A Page is HTML.")
    picture = still(chart)
    if target.suffix.lower() == ".svg":
        target.write_text(picture, encoding="utf-8")
    else:
        import vl_convert

        target.write_bytes(vl_convert.svg_to_png(picture, scale=2))
    return target
