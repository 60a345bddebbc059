"""The stories that `noren demo` tells, in order: "module:function".

A story is a function that takes a `Stage`: it generates data with public randomness, and asks
about it by commands that anybody could type. To add one, add a line.
"""

STORIES: tuple[str, ...] = (
    "noren.cli.stories.association:tell",
    "noren.cli.stories.reweighting:tell",
    "noren.cli.stories.monitoring:tell",
    "noren.cli.stories.similarity:tell",
    "noren.cli.stories.collaboration:tell",
)
