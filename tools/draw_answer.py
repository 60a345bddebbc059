#!/usr/bin/env python3
"""Draw the picture of the README: one real answer about the generated town of `noren demo`.

Run it with the project's Python:  .venv/bin/python tools/draw_answer.py
The people are generated; the noise is real, so each run gives other numbers.
"""

from fractions import Fraction

from noren import Noise
from noren.cli.stories.survey import EACH_DEVICE, PEOPLE, SECRET, generate
from noren.mechanisms import RandomizedResponse, Responses
from noren.noise.public import generator
from noren.page import save_chart

TITLE = "How often have you cheated on your taxes?"
HOW = f"{PEOPLE} generated people. Each device randomized its answer, and only that left it."

question = RandomizedResponse(categories=SECRET, adjacency=EACH_DEVICE, epsilon=Fraction(1))
answer = question.answer(Responses(generate(generator(1))["secret"]), Noise())
words = {"text": TITLE, "subtitle": [HOW, f"Price: {answer.guarantee}"], "anchor": "start"}
drawn = answer.chart().properties(title={**words, "offset": 14}, background="white", height=190)
print(answer)
print("The picture is", save_chart(drawn, "docs/_static/answer.svg"))
