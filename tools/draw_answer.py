#!/usr/bin/env python3
"""Draw the picture of the README: a real answer, from the second story of `noren demo`.

Run it with the project's Python:  .venv/bin/python tools/draw_answer.py
The people are generated; the noise is real, so each run gives other numbers.
"""

import contextlib
import tempfile
from pathlib import Path

from noren.cli.output import Output
from noren.cli.stories.reweighting import tell
from noren.cli.stories.stage import Stage
from noren.page import Card, save_chart

TITLE = "How many of a clinic's patients...?"
PICTURE = Path("docs/_static/answer.svg").resolve()

stage = Stage(Output(as_json=False), data_seed=1, number=1)
with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
    Path(stage.folder).mkdir()
    tell(stage)
card = next(part for part in stage.parts if isinstance(part, Card))
facts = dict(card.facts)
how = "4000 generated patients; a public survey of 2000, weighted by one private answer."
words = {"text": TITLE, "subtitle": [how, f"Price: {facts['Price']}"], "anchor": "start"}
drawn = card.chart.chart.properties(title={**words, "offset": 14}, background="white", padding=12)
print("The picture is", save_chart(drawn, PICTURE))
