"""Who resembles this record, and what does answering leak: search over private bit vectors."""

from typing import TYPE_CHECKING

from noren.first_use import on_first_use

if TYPE_CHECKING:
    from noren.similarity.as_published import published_loss as published_loss
    from noren.similarity.as_published import published_rank as published_rank
    from noren.similarity.as_published import published_scores as published_scores
    from noren.similarity.asked import about as about
    from noren.similarity.attacks import detecting_matrix as detecting_matrix
    from noren.similarity.attacks import determined_columns as determined_columns
    from noren.similarity.attacks import revealed_columns as revealed_columns
    from noren.similarity.best_record import BestRecord as BestRecord
    from noren.similarity.confidence import rank_confidence as rank_confidence
    from noren.similarity.confidence import score_confidence as score_confidence
    from noren.similarity.laws import clamped_geometric as clamped_geometric
    from noren.similarity.laws import top_one_cap as top_one_cap
    from noren.similarity.laws import top_set_inclusion as top_set_inclusion
    from noren.similarity.leak_assessing import leak_report as leak_report
    from noren.similarity.leak_attack import Attacked as Attacked
    from noren.similarity.leak_attack import attack as attack
    from noren.similarity.leak_result import LeakReport as LeakReport
    from noren.similarity.leak_workload import RandomQueries as RandomQueries
    from noren.similarity.noisy_scores import NoisyScores as NoisyScores
    from noren.similarity.planning import plan as plan
    from noren.similarity.published import Published as Published
    from noren.similarity.randomized_records import RandomizedRecords as RandomizedRecords
    from noren.similarity.randomized_records import publish_randomised as publish_randomised
    from noren.similarity.score_pairs import RowWeights as RowWeights
    from noren.similarity.score_pairs import ScorePairs as ScorePairs
    from noren.similarity.scoring import dense_ranks as dense_ranks
    from noren.similarity.scoring import scores as scores
    from noren.similarity.session import Session as Session
    from noren.similarity.similar_counts import ScoreHistogram as ScoreHistogram
    from noren.similarity.similar_counts import SimilarCount as SimilarCount
    from noren.similarity.standin import stand_in as stand_in
    from noren.similarity.statistic import Records as Records
    from noren.similarity.top_set import TopSet as TopSet

ROOMS = {
    "as_published": "published_loss published_rank published_scores",
    "asked": "about",
    "attacks": "detecting_matrix determined_columns revealed_columns",
    "best_record": "BestRecord",
    "confidence": "rank_confidence score_confidence",
    "laws": "clamped_geometric top_one_cap top_set_inclusion",
    "leak_assessing": "leak_report",
    "leak_attack": "Attacked attack",
    "leak_result": "LeakReport",
    "leak_workload": "RandomQueries",
    "noisy_scores": "NoisyScores",
    "planning": "plan",
    "published": "Published",
    "randomized_records": "RandomizedRecords publish_randomised",
    "score_pairs": "RowWeights ScorePairs",
    "scoring": "dense_ranks scores",
    "session": "Session",
    "similar_counts": "ScoreHistogram SimilarCount",
    "standin": "stand_in",
    "statistic": "Records",
    "top_set": "TopSet",
}

__all__, __getattr__, __dir__ = on_first_use(__name__, ROOMS)
