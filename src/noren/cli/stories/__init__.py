"""The stories that `noren demo` tells, in order: "module:function".

A story is a function that takes a `Stage`: it generates data with public randomness, opens an
account, and asks through it. To add one, add a line.
"""

STORIES: tuple[str, ...] = ("noren.cli.stories.survey:tell",)
