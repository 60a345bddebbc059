"""Which tests can be asked privately, and why some cannot: each by its name.

A test has a private score only where it is proved how far one person moves it. The chi-squared
test of a 2x2 table has one, for every coding of genotypes as 0 or 1 and for counts of alleles.
Tests that use all three genotypes apart have none here:

    genotype    chi-squared of the 2x3 table. By enumeration of small tables its sensitivity is the
                constant of the 2x2 test, but nobody has proved it, and no distance is known.
    trend       Cochran and Armitage, weights 0, 1, 2. Its sensitivity is not that constant: 10.588
                for 10 cases and 10 controls, where the constant is 3.636. Noise made for the 2x2
                test would not protect anybody.
"""

from __future__ import annotations

from noren.errors import NotPrivate, ParameterError

CODINGS = {
    "carrier": "carries at least one counted allele (dominant)",
    "recessive": "carries two counted alleles",
    "heterozygous": "carries exactly one counted allele",
    "allelic": "number of counted alleles; a person counts twice",
}
SYNONYMS = {"dominant": "carrier", "allele": "allelic", "heterozygote": "heterozygous"}
ADVICE = f"Use one of the codings {', '.join(CODINGS)}."
REFUSED = {
    "genotype": "its sensitivity is known from small tables only and is not proved",
    "trend": "one person moves it by more than the constant of the 2x2 test (10.588 against 3.636 "
    "for ten cases and ten controls), and no distance is proved for it",
}
REFUSED_SYNONYMS = {
    "2x3": "genotype",
    "genotypic": "genotype",
    "additive": "trend",
    "cochran-armitage": "trend",
    "armitage": "trend",
}


def read_coding(given: str) -> str:
    """Take a coding by name; refuse a test that has no proof, saying why.

    Examples
    --------
    >>> read_coding("dominant")
    'carrier'
    >>> read_coding("trend")
    Traceback (most recent call last):
    ...
    noren.errors.NotPrivate: The trend test cannot be asked privately: one person moves it...
    """
    word = str(given).strip().lower().replace("_", "-")
    word = SYNONYMS.get(word, REFUSED_SYNONYMS.get(word, word))
    if word in REFUSED:
        raise NotPrivate(f"The {word} test cannot be asked privately: {REFUSED[word]}. {ADVICE}")
    if word not in CODINGS:
        raise ParameterError("coding", repr(given), f"one of {', '.join(CODINGS)}")
    return word
