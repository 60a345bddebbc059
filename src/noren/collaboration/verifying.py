"""Whether a received share may be used: who sent it, on which task, and is its claim honest.

Checks, each with a fixed name in the refusal
    unknown signer      the organization is not a member, or signs with another key than listed
    tampered            the signature does not fit the texts, or the release its name
    expired schema      the task was replaced
    wrong schema        it is another task
    seeded              its noise could be predicted (unless asked to accept that)
    bad numbers         not finite, above 1e6, of a wrong shape (by `PrivateModel`)
    bad parameters      one that the claim is a function of is missing or makes no sense
    other neighbors     the claim is made for other neighbors than the mechanism protects
    understated claim   recomputed from mechanism and parameters, the price is higher than stated
                        (epsilon by more than 1e-9, delta by more than 1e-6, relative)

What cannot be checked: that the mechanism was run as stated. The report says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from noren.collaboration.claims import recompute_claim
from noren.collaboration.consortium import Consortium, overlapping
from noren.collaboration.shares import Share
from noren.collaboration.signing import fingerprint, is_signed
from noren.errors import NorenError, ShareRefused
from noren.privacy import Guarantee

EPSILON_SLACK = Fraction(1, 10**9)
DELTA_SLACK = Fraction(1, 10**6)


@dataclass(frozen=True, slots=True)
class Verified:
    """Shares that may be combined: one for each organization, and what each has spent.

    Attributes
    ----------
    shares : tuple of Share
        The newest release of each organization, by name.
    prices : tuple of Guarantee or None
        For each, the sum over all its different releases that were received; None if seeded.
    repeated : tuple of str
        Which files were left out because the same release, or a newer one, is there.
    """

    shares: tuple[Share, ...]
    prices: tuple[Guarantee | None, ...]
    repeated: tuple[str, ...]


def verify_share(share: Share, consortium: Consortium, *, allow_seeded: bool = False) -> Share:
    """Give the share back if it may be used, else raise `ShareRefused` with the check's name.

    Parameters
    ----------
    share
        From `read_share`.
    consortium
        What the members agreed on.
    allow_seeded
        Accept models of predictable noise, for lessons and tests.
    """
    manifest, source = share.manifest, share.source
    listed = consortium.members.get(share.organization)
    if listed is None or listed != manifest["public_key"]:
        raise ShareRefused(
            "unknown signer", source,
            "its organization is not listed with this key. If the key was changed, have the new "
            "one confirmed by telephone and put it into the consortium's file.",
        )  # fmt: skip
    intact = is_signed(listed, share.signature, share.model_text, share.manifest_text)
    if not intact or manifest["fingerprint"] != fingerprint(listed):
        raise refused_as_tampered(source)
    if manifest["release"] != share.release:
        raise refused_as_tampered(source)
    check_task(share, consortium)
    _ = share.created
    check_claim(share, allow_seeded=allow_seeded)
    return share


def refused_as_tampered(source: str) -> ShareRefused:
    """Say that a file is not as it was signed."""
    return ShareRefused(
        "tampered", source,
        "it is not what its organization signed. Ask the sender to send it again.",
    )  # fmt: skip


def check_task(share: Share, consortium: Consortium) -> None:
    """Refuse another task, an earlier one by name."""
    wanted, found = consortium.task.identity, share.model.task.identity
    if share.manifest["task_sha256"] != found:
        raise refused_as_tampered(share.source)
    if found == wanted:
        return
    since = consortium.expired.get(found)
    if since is not None:
        raise ShareRefused(
            "expired schema", share.source,
            f"its schema was replaced on {since}. Ask the sender to train again with today's.",
        )  # fmt: skip
    raise ShareRefused(
        "wrong schema", share.source,
        "its features, label or scale are not those of the consortium. Compare both with "
        "'noren collaborate inspect', and agree on one file.",
    )  # fmt: skip


def check_claim(share: Share, *, allow_seeded: bool) -> None:
    """Recompute the claim from mechanism and parameters, and refuse a smaller one."""
    model, source = share.model, share.source
    if model.seeded:
        if not allow_seeded:
            raise ShareRefused(
                "seeded", source, "its noise could be predicted: nothing is private."
            )
        return
    try:
        true = recompute_claim(model.mechanism, model.parameters)
    except NorenError as error:
        raise ShareRefused("bad parameters", source, str(error)) from None
    stated = model.guarantee
    if stated is None or stated.epsilon is None:
        raise ShareRefused(
            "understated claim",
            source,
            "it states no epsilon. Ask the sender for a model whose price has one.",
        )
    if stated.adjacency != true.adjacency:
        raise ShareRefused(
            "other neighbors", source,
            f"it claims to protect '{stated.adjacency}', but its mechanism, with these parameters, "
            f"protects '{true.adjacency}'.",
        )  # fmt: skip
    if understates(stated, true):
        raise ShareRefused(
            "understated claim", source,
            f"it claims {stated}, but its mechanism with these parameters costs {true}.",
        )  # fmt: skip


def understates(stated: Guarantee, true: Guarantee) -> bool:
    """Say whether a stated price is below the true one by more than rounding."""
    if true.epsilon is None or stated.epsilon is None:
        return True
    low_epsilon = stated.epsilon < true.epsilon * (1 - EPSILON_SLACK)
    low_delta = stated.delta < true.delta * (1 - DELTA_SLACK)
    low_rho = stated.rho is not None and (
        true.rho is None or stated.rho < true.rho * (1 - EPSILON_SLACK)
    )
    return low_epsilon or low_delta or low_rho


def verify_shares(
    shares: Iterable[Share], consortium: Consortium, *, allow_seeded: bool = False
) -> Verified:
    """Verify all; keep the newest release of each organization, and add up what it released.

    One release that came twice is one price. Two different releases of one organization are two.
    """
    by_member: dict[str, list[Share]] = {}
    for share in shares:
        good = verify_share(share, consortium, allow_seeded=allow_seeded)
        by_member.setdefault(good.organization, []).append(good)
    kept, prices, repeated = [], [], []
    for name in sorted(by_member):
        ordered = sorted(by_member[name], key=lambda one: (one.created, one.release))
        kept.append(ordered[-1])
        prices.append(price_of(ordered))
        repeated += [one.source for one in ordered[:-1]]
    return Verified(tuple(kept), tuple(prices), tuple(repeated))


def price_of(shares: Sequence[Share]) -> Guarantee | None:
    """Add the prices of different releases; None if one has none or they cannot be added."""
    different = {share.release: share.model.guarantee for share in shares}
    prices = [price for price in different.values() if price is not None]
    return overlapping(prices, len(prices)) if len(prices) == len(different) else None
