"""Which variants go with the disease: private chi-squared tests of cases and controls."""

from typing import TYPE_CHECKING

from noren.first_use import on_first_use

if TYPE_CHECKING:
    from noren.association.adjusted_study import open_adjusted as open_adjusted
    from noren.association.admixed import AdmixedCohort as AdmixedCohort
    from noren.association.admixed import simulate_admixed as simulate_admixed
    from noren.association.cohort import SimulatedCohort as SimulatedCohort
    from noren.association.cohort import simulate as simulate
    from noren.association.composition import per_test_epsilon as per_test_epsilon
    from noren.association.composition import total_epsilon as total_epsilon
    from noren.association.corrections import benjamini_yekutieli as benjamini_yekutieli
    from noren.association.corrections import bonferroni as bonferroni
    from noren.association.corrections import holm as holm
    from noren.association.counting import count_tables as count_tables
    from noren.association.decisions import Decisions as Decisions
    from noren.association.distance import scores as scores
    from noren.association.distance import signed_distance as signed_distance
    from noren.association.distance_scores import DistanceScores as DistanceScores
    from noren.association.geometry import chi_squared as chi_squared
    from noren.association.geometry import is_significant as is_significant
    from noren.association.geometry import unit_circle_norm_squared as unit_circle_norm_squared
    from noren.association.loci import Loci as Loci
    from noren.association.noisy_counts import NoisyCounts as NoisyCounts
    from noren.association.null_model import NullModel as NullModel
    from noren.association.private_status import AnyStatus as AnyStatus
    from noren.association.private_status import SwappedStatus as SwappedStatus
    from noren.association.pvalue import best_tau as best_tau
    from noren.association.pvalue import cut_off as cut_off
    from noren.association.pvalue import p_value as p_value
    from noren.association.pvalue import randomized_p_value as randomized_p_value
    from noren.association.score_null import null_variance as null_variance
    from noren.association.score_rows import GenotypeRows as GenotypeRows
    from noren.association.score_test import ScoreTest as ScoreTest
    from noren.association.score_test import score_distance as score_distance
    from noren.association.scoring import CaseControl as CaseControl
    from noren.association.sensitivities import tight_sensitivity as tight_sensitivity
    from noren.association.significance import error_probability as error_probability
    from noren.association.significance import significance_probability as significance_probability
    from noren.association.statistic import Tables as Tables
    from noren.association.statistic import concatenate as concatenate
    from noren.association.status import StatusTables as StatusTables
    from noren.association.status_scores import (
        private_status_distance as private_status_distance,
    )
    from noren.association.strata import StratifiedTables as StratifiedTables
    from noren.association.strata_counting import (
        count_stratified_tables as count_stratified_tables,
    )
    from noren.association.strata_geometry import cmh as cmh
    from noren.association.strata_pvalue import stratified_p_value as stratified_p_value
    from noren.association.strata_scores import stratified_distance as stratified_distance
    from noren.association.strata_shape import largest_cmh as largest_cmh
    from noren.association.stratified import Strata as Strata
    from noren.association.summary import read_tables as read_tables
    from noren.association.top_snps import TopSnps as TopSnps

ROOMS = {
    "admixed": "AdmixedCohort simulate_admixed",
    "adjusted_study": "open_adjusted",
    "cohort": "SimulatedCohort simulate",
    "composition": "per_test_epsilon total_epsilon",
    "corrections": "benjamini_yekutieli bonferroni holm",
    "counting": "count_tables",
    "decisions": "Decisions",
    "distance": "scores signed_distance",
    "distance_scores": "DistanceScores",
    "geometry": "chi_squared is_significant unit_circle_norm_squared",
    "loci": "Loci",
    "noisy_counts": "NoisyCounts",
    "null_model": "NullModel",
    "private_status": "AnyStatus SwappedStatus",
    "pvalue": "best_tau cut_off p_value randomized_p_value",
    "score_null": "null_variance",
    "score_rows": "GenotypeRows",
    "score_test": "ScoreTest score_distance",
    "scoring": "CaseControl",
    "sensitivities": "tight_sensitivity",
    "significance": "error_probability significance_probability",
    "statistic": "Tables concatenate",
    "status": "StatusTables",
    "status_scores": "private_status_distance",
    "strata": "StratifiedTables",
    "strata_counting": "count_stratified_tables",
    "strata_geometry": "cmh",
    "strata_pvalue": "stratified_p_value",
    "strata_scores": "stratified_distance",
    "strata_shape": "largest_cmh",
    "stratified": "Strata",
    "summary": "read_tables",
    "top_snps": "TopSnps",
}

__all__, __getattr__, __dir__ = on_first_use(__name__, ROOMS)
