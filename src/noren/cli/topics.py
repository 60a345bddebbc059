"""What `noren explain` can explain: public kind -> "module:Class".

The module's docstring is the explanation: mathematics, privacy, accuracy. To add a question, add
a line; a test fails when a question of Noren is missing here.
"""

from __future__ import annotations

TOPICS: dict[str, str] = {
    "cell-counts": "noren.mechanisms.counts:CellCounts",
    "bounded-sum": "noren.mechanisms.sums:BoundedSum",
    "bounded-mean": "noren.mechanisms.means:BoundedMean",
    "best-candidate": "noren.mechanisms.selection:BestCandidate",
    "randomized-response": "noren.mechanisms.response:RandomizedResponse",
    "best-of-private": "noren.mechanisms.tuning:BestOfPrivate",
    "plan": "noren.privacy.plan:Plan",
    "distance-scores": "noren.association.distance_scores:DistanceScores",
    "decisions": "noren.association.decisions:Decisions",
    "top-snps": "noren.association.top_snps:TopSnps",
    "noisy-counts": "noren.association.noisy_counts:NoisyCounts",
    "published-decisions": "noren.association.as_published:PublishedDecisions",
    "noisy-scores": "noren.similarity.noisy_scores:NoisyScores",
    "best-record": "noren.similarity.best_record:BestRecord",
    "top-set": "noren.similarity.top_set:TopSet",
    "randomized-records": "noren.similarity.randomized_records:RandomizedRecords",
    "score-pairs": "noren.similarity.score_pairs:ScorePairs",
    "row-weights": "noren.similarity.score_pairs:RowWeights",
    "similar-count": "noren.similarity.similar_counts:SimilarCount",
    "score-histogram": "noren.similarity.similar_counts:ScoreHistogram",
    "searcher-charge": "noren.similarity.courtesy:SearcherCharge",
    "basis-moments": "noren.reweighting.moments:Moments",
    "adaptive-moments": "noren.reweighting.adaptive:AdaptiveMoments",
    "logistic-ratio": "noren.reweighting.logistic_ratio:LogisticRatio",
    "published-ratio": "noren.reweighting.as_published:PublishedRatio",
    "published-centres-ratio": "noren.reweighting.as_published_sampled:PublishedCentresRatio",
    "lie-law": "noren.monitoring.lies:LieLaw",
    "logistic-training": "noren.collaboration.logistic:LogisticTraining",
    "softmax-training": "noren.collaboration.softmax:SoftmaxTraining",
    "descent-training": "noren.collaboration.descent:GradientDescent",
    "moment-training": "noren.collaboration.moments:MomentLearner",
    "output-perturbation": "noren.collaboration.output:OutputPerturbation",
    "gram-regression": "noren.collaboration.regression:GramRegression",
    "tuned-training": "noren.collaboration.tuned:TunedTraining",
    "published-training": "noren.collaboration.as_published:PublishedTraining",
    "gibbs-learner": "noren.collaboration.gibbs_learner:GibbsLearner",
}
