"""The two ways in which scores are read, and what belongs to each. They are never mixed.

"agreement": the decision is that of the plain test at tau, as often as a private one can agree. It
has no level. "valid": the decision is made from p-values, corrected for all tests, and has its
level whatever the noise.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from noren.association.corrections import benjamini_yekutieli, bonferroni, holm
from noren.association.scoring import Scoring
from noren.errors import NotPrivate, ParameterError
from noren.privacy.numbers import probability

AGREEMENT = "agreement"
VALID = "valid"
MODES = {
    AGREEMENT: "agrees with the plain test at tau",
    VALID: "valid test at level alpha",
}
USUAL_LEVEL = Fraction(1, 20)
CORRECTIONS = {
    "holm": holm,
    "bonferroni": bonferroni,
    "benjamini-yekutieli": benjamini_yekutieli,
}


def read_mode(given: str) -> str:
    """Take a mode by name."""
    if given not in MODES:
        raise ParameterError("mode", repr(given), f"'{VALID}' or '{AGREEMENT}'")
    return given


def require_null(null: str, design: Scoring) -> None:
    """Refuse a p-value under a null hypothesis for which no law is proved."""
    if null not in design.nulls:
        known = f"one of {', '.join(design.nulls)}" if design.nulls else "left out: none is known"
        raise NotPrivate(f"null is '{null}', but for these scores it must be {known}.")


def corrected(correction: str) -> Any:
    """Find a correction by name."""
    if correction not in CORRECTIONS:
        raise ParameterError("correction", repr(correction), f"one of {', '.join(CORRECTIONS)}")
    return CORRECTIONS[correction]


def read_alpha(given: object, mode: str, design: Scoring) -> Fraction | None:
    """Take the level of a valid test; a test that only agrees has none."""
    if mode == AGREEMENT:
        if given is not None:
            raise ParameterError(
                "alpha",
                given,
                "left out when the mode is 'agreement'",
                "Agreeing with the plain test has no level; use the mode 'valid' for one.",
            )
        return None
    if not design.nulls:
        raise NotPrivate(
            "mode is 'valid', but for these scores it must be 'agreement', with the threshold tau "
            "of the plain test: none of their p-values is proved."
        )
    require_null("permutation", design)
    level = USUAL_LEVEL if given is None else probability("alpha", given)
    if not 0 < level < 1:
        raise ParameterError("alpha", given, "above 0 and below 1", "0.05 is usual.")
    return level
