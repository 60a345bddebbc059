"""Map partitions to statistics and merge these: in this process, or wherever an `Engine` runs."""

from noren.engine.dask import DaskEngine as DaskEngine
from noren.engine.local import Engine as Engine
from noren.engine.local import LocalEngine as LocalEngine
from noren.engine.local import Progress as Progress
from noren.engine.local import Rounds as Rounds
from noren.engine.local import run as run
from noren.engine.merging import Part as Part
from noren.engine.merging import distinct as distinct
from noren.engine.merging import merged as merged

__all__ = [
    "DaskEngine",
    "Engine",
    "LocalEngine",
    "Part",
    "Progress",
    "Rounds",
    "distinct",
    "merged",
    "run",
]
