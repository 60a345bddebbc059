"""Ask whether the share of active people is above a threshold, right now.

Each device sends few reports, some of them lies, to a collector that nobody needs to trust. The
lies are drawn before anything is seen, by a law whose price covers a person's whole trajectory.
"""

from typing import TYPE_CHECKING

from noren.first_use import on_first_use

if TYPE_CHECKING:
    from noren.monitoring.accuracy import best_m as best_m
    from noren.monitoring.accuracy import published_variance as published_variance
    from noren.monitoring.accuracy import variance as variance
    from noren.monitoring.client import Client as Client
    from noren.monitoring.collector import Collector as Collector
    from noren.monitoring.decisions import critical_count as critical_count
    from noren.monitoring.decisions import estimate as estimate
    from noren.monitoring.decisions import interval as interval
    from noren.monitoring.lies import block_law as block_law
    from noren.monitoring.lies import ramp_law as ramp_law
    from noren.monitoring.planning import plan as plan
    from noren.monitoring.shuffling import shuffle_floor as shuffle_floor
    from noren.monitoring.shuffling import shuffled_epsilon as shuffled_epsilon

ROOMS = {
    "accuracy": "best_m published_variance variance",
    "client": "Client",
    "collector": "Collector",
    "decisions": "critical_count estimate interval",
    "lies": "block_law ramp_law",
    "planning": "plan",
    "shuffling": "shuffle_floor shuffled_epsilon",
}

__all__, __getattr__, __dir__ = on_first_use(__name__, ROOMS)
