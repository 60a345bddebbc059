"""What can we learn together without pooling rows: private models, sent as files and combined."""

from typing import TYPE_CHECKING

from noren.first_use import on_first_use

if TYPE_CHECKING:
    from noren.collaboration.as_published import PublishedTraining as PublishedTraining
    from noren.collaboration.auto import auto_fit as auto_fit
    from noren.collaboration.baselines import geometric_median as geometric_median
    from noren.collaboration.baselines import moment_prior_fit as moment_prior_fit
    from noren.collaboration.baselines import stack as stack
    from noren.collaboration.choice import choose_training as choose_training
    from noren.collaboration.claims import recompute_claim as recompute_claim
    from noren.collaboration.combined import Combination as Combination
    from noren.collaboration.combined import SecretCombination as SecretCombination
    from noren.collaboration.combining import combine as combine
    from noren.collaboration.consortium import Consortium as Consortium
    from noren.collaboration.descent import GradientDescent as GradientDescent
    from noren.collaboration.fitting import fit_logistic as fit_logistic
    from noren.collaboration.gaussian_calibration import gaussian_mu as gaussian_mu
    from noren.collaboration.gaussian_calibration import (
        tight_gaussian_delta as tight_gaussian_delta,
    )
    from noren.collaboration.gibbs_learner import GibbsLearner as GibbsLearner
    from noren.collaboration.joining import SecretJoining as SecretJoining
    from noren.collaboration.logistic import LogisticTraining as LogisticTraining
    from noren.collaboration.merging import Merged as Merged
    from noren.collaboration.merging import merge as merge
    from noren.collaboration.model import PrivateModel as PrivateModel
    from noren.collaboration.moments import MomentLearner as MomentLearner
    from noren.collaboration.output import OutputPerturbation as OutputPerturbation
    from noren.collaboration.publication import Publication as Publication
    from noren.collaboration.publication import publish as publish
    from noren.collaboration.pure_calibration import cms_calibration as cms_calibration
    from noren.collaboration.pure_calibration import tight_pure_epsilon as tight_pure_epsilon
    from noren.collaboration.pure_calibration import tight_pure_rate as tight_pure_rate
    from noren.collaboration.regression import GramRegression as GramRegression
    from noren.collaboration.regression import merged_regression as merged_regression
    from noren.collaboration.share_files import read_share as read_share
    from noren.collaboration.share_files import write_share as write_share
    from noren.collaboration.shares import Share as Share
    from noren.collaboration.shares import make_share as make_share
    from noren.collaboration.signing import keygen as keygen
    from noren.collaboration.signing import read_key as read_key
    from noren.collaboration.softmax import SoftmaxTraining as SoftmaxTraining
    from noren.collaboration.statistic import TrainingRows as TrainingRows
    from noren.collaboration.task import Task as Task
    from noren.collaboration.training import TrainedModel as TrainedModel
    from noren.collaboration.tuned import TunedTraining as TunedTraining
    from noren.collaboration.verifying import Verified as Verified
    from noren.collaboration.verifying import verify_share as verify_share
    from noren.collaboration.verifying import verify_shares as verify_shares
    from noren.collaboration.weights import ewa_weights as ewa_weights
    from noren.collaboration.weights import mirror_weights as mirror_weights

ROOMS = {
    "as_published": "PublishedTraining",
    "auto": "auto_fit",
    "baselines": "geometric_median moment_prior_fit stack",
    "choice": "choose_training",
    "claims": "recompute_claim",
    "combined": "Combination SecretCombination",
    "combining": "combine",
    "consortium": "Consortium",
    "descent": "GradientDescent",
    "fitting": "fit_logistic",
    "gaussian_calibration": "gaussian_mu tight_gaussian_delta",
    "gibbs_learner": "GibbsLearner",
    "joining": "SecretJoining",
    "logistic": "LogisticTraining",
    "merging": "Merged merge",
    "model": "PrivateModel",
    "moments": "MomentLearner",
    "output": "OutputPerturbation",
    "publication": "Publication publish",
    "pure_calibration": "cms_calibration tight_pure_epsilon tight_pure_rate",
    "regression": "GramRegression merged_regression",
    "share_files": "read_share write_share",
    "shares": "Share make_share",
    "signing": "keygen read_key",
    "softmax": "SoftmaxTraining",
    "statistic": "TrainingRows",
    "task": "Task",
    "training": "TrainedModel",
    "verifying": "Verified verify_share verify_shares",
    "tuned": "TunedTraining",
    "weights": "ewa_weights mirror_weights",
}

__all__, __getattr__, __dir__ = on_first_use(__name__, ROOMS)
