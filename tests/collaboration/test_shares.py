"""Files between organizations: what is written is read back, and nothing else gets in."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import stat
import zipfile
from datetime import datetime
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from noren import Guarantee, Noise
from noren.collaboration import signing
from noren.collaboration.claims import recompute_claim
from noren.collaboration.consortium import Consortium
from noren.collaboration.logistic import LogisticTraining
from noren.collaboration.model import PrivateModel
from noren.collaboration.moments import MomentLearner
from noren.collaboration.output import OutputPerturbation
from noren.collaboration.publication import publish
from noren.collaboration.share_files import LARGEST, NAMES, read_share, write_share
from noren.collaboration.shares import Share, canonical, make_share
from noren.collaboration.signing import keygen, read_key, sign
from noren.collaboration.statistic import TrainingRows
from noren.collaboration.task import Task
from noren.collaboration.tuned import TunedTraining
from noren.collaboration.verifying import verify_share, verify_shares
from noren.data import Numeric, fill
from noren.errors import FileProblem, NotPrivate, ParameterError, SchemaError, ShareRefused
from noren.privacy import ADD_REMOVE, USER, Adjacency
from noren.testing import seeded_noise

TASK = Task.of_bounds([0, 0], [10, 10], classes=("well", "ill"))
FIRST, LATER = datetime(2026, 1, 2), datetime(2026, 3, 4)


def rows(task: Task = TASK) -> TrainingRows:
    made = np.random.default_rng(1).uniform(0, 10, (40, len(task.features)))
    labels = np.where(made[:, 0] > 5, task.classes[1], task.classes[0])
    return TrainingRows.of(task, made, labels=labels)


def train(noise=None, task: Task = TASK, **settings) -> PrivateModel:
    own = {"task": task, "epsilon": 1, "adjacency": "add-remove", "size": 40} | settings
    return LogisticTraining(**own).answer(rows(task), noise or Noise()).model


MODEL = train()


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    folder = tmp_path_factory.mktemp("keys")
    public = {name: keygen(folder / f"{name}.key") for name in ("north", "south")}
    return {name: read_key(folder / f"{name}.key") for name in public}, public


@pytest.fixture(scope="module")
def members(keys):
    return Consortium(name="hearts", task=TASK, members=keys[1])


@pytest.fixture(scope="module")
def share(keys):
    return make_share(MODEL, "north", keys[0]["north"], FIRST)


def resigned(share: Share, key, manifest: dict | None = None, model: bytes | None = None) -> Share:
    """What a member could send who changes a file and signs it again."""
    text = canonical(share.manifest | (manifest or {}))
    numbers = share.model_text if model is None else model
    return Share(model_text=numbers, manifest_text=text, signature=sign(key, numbers, text))


def refused(share: Share, members: Consortium) -> str:
    with pytest.raises(ShareRefused) as caught:
        verify_share(share, members)
    return caught.value.reason


@pytest.mark.parametrize("name", ["north", "north.zip", "deep/er/north.zip"])
def test_a_share_comes_back_bit_for_bit(name, tmp_path, share, members):
    write_share(tmp_path / name, share)
    found = read_share(tmp_path / name)
    assert (found.model_text, found.manifest_text, found.signature) == (
        share.model_text, share.manifest_text, share.signature)  # fmt: skip
    verified = verify_share(found, members)
    assert np.array_equal(verified.model.coefficients, MODEL.coefficients)
    assert verified.model.guarantee == MODEL.guarantee


def test_the_same_share_makes_the_same_zip(tmp_path, share):
    texts = [write_share(tmp_path / name, share).read_bytes() for name in ("a.zip", "b.zip")]
    assert texts[0] == texts[1]


def test_a_share_is_never_written_over(tmp_path, share):
    write_share(tmp_path / "a.zip", share)
    with pytest.raises(FileProblem, match="exists already"):
        write_share(tmp_path / "a.zip", share)


def test_a_share_holds_json_alone(tmp_path, share):
    folder = write_share(tmp_path / "north", share)
    assert sorted(path.name for path in folder.iterdir()) == sorted(NAMES)
    for name in NAMES[:2]:
        json.loads((folder / name).read_text(encoding="ascii"))
    numbers = json.loads(share.model_text)["coefficients"]
    assert all(isinstance(number, str) for number in numbers)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 10**6), bit=st.integers(0, 7), which=st.sampled_from([0, 1]))
def test_every_flipped_bit_is_refused(place, bit, which, share, members):
    texts = [bytearray(share.model_text), bytearray(share.manifest_text)]
    texts[which][place % len(texts[which])] ^= 1 << bit
    bad = dataclasses.replace(
        share, model_text=bytes(texts[0]), manifest_text=bytes(texts[1]), source="north.zip"
    )
    reasons = {"tampered", "not a share", "unknown signer", "bad content"}
    assert refused(bad, members) in reasons


def test_a_changed_signature_is_refused(share, members):
    other = share.signature[:-2] + ("00" if share.signature[-2:] != "00" else "11")
    for signature in (other, "", "zz", share.signature[:10]):
        assert refused(dataclasses.replace(share, signature=signature), members) == "tampered"


def test_an_unknown_organization_and_a_foreign_key_are_refused(share, keys, members):
    stranger = make_share(MODEL, "west", keys[0]["north"])
    assert refused(stranger, members) == "unknown signer"
    impostor = make_share(MODEL, "north", keys[0]["south"])
    assert refused(impostor, members) == "unknown signer"


def claim(**changes) -> dict:
    from noren.collaboration.model import guarantee_to_text

    stated = MODEL.guarantee
    return {"claim": guarantee_to_text(Guarantee(stated.adjacency, stated.epsilon)) | changes}


def test_an_understated_claim_is_refused_and_an_overstated_one_is_not(share, keys, members):
    key = keys[0]["north"]
    exact = verify_share(share, members).model.guarantee.epsilon
    assert refused(resigned(share, key, claim(epsilon="999/1000")), members) == "understated claim"
    less = str(exact * (1 - Fraction(1, 10**8)))
    assert refused(resigned(share, key, claim(epsilon=less)), members) == "understated claim"
    assert verify_share(resigned(share, key, claim(epsilon="2")), members)


def test_other_neighbours_than_the_mechanism_protects_are_refused(share, keys, members):
    for changes in ({"relation": "substitute"}, {"unit": "user", "max_records": 5}):
        bad = resigned(share, keys[0]["north"], claim(**changes))
        assert refused(bad, members) == "other neighbors"


def test_a_rho_that_nobody_proved_is_refused(share, keys, members):
    bad = resigned(share, keys[0]["north"], claim(rho="1/1000"))
    assert refused(bad, members) == "understated claim"


def test_stronger_noise_cannot_be_claimed_by_changing_parameters(share, keys, members):
    stated = dict(share.manifest["parameters"])
    for name in ("rate", "tolerance"):  # (a larger ridge costs less: the mechanism is trusted)
        changed = {"parameters": stated | {name: format(float(stated[name]) * 2, ".17g")}}
        bad = resigned(share, keys[0]["north"], changed)
        assert refused(bad, members) in ("understated claim", "bad parameters"), name


def test_a_missing_or_senseless_parameter_is_refused(share, keys, members):
    stated = dict(share.manifest["parameters"])
    short = {name: value for name, value in stated.items() if name != "tolerance"}
    cases = [
        ({"parameters": short}, {"bad content"}),
        ({"parameters": stated | {"rate": "-1"}}, {"bad parameters"}),
        ({"parameters": stated | {"dimension": "2"}}, {"bad content"}),
        ({"parameters": stated | {"epsilon": "-1"}}, {"bad parameters"}),
        ({"parameters": stated | {"delta": "2"}}, {"bad parameters"}),
        ({"parameters": stated | {"max_records": "0"}}, {"bad parameters"}),
        ({"parameters": stated | {"epsilon": "1e999"}}, {"bad content"}),
        ({"parameters": stated | {"epsilon": "1e999999999"}}, {"bad numbers"}),
        ({"parameters": stated | {"epsilon": "1e9_9_9_9_9_9_9_9_9"}}, {"bad numbers"}),
        ({"parameters": stated | {"epsilon": "9" * 500}}, {"bad numbers"}),
        ({"parameters": []}, {"bad content", "bad numbers"}),
        ({"mechanism": "trust-me"}, {"bad content"}),
        ({"mechanism": ["x"]}, {"bad content", "bad numbers"}),
        ({"claim": None}, {"understated claim"}),
        ({"claim": {"epsilon": "1"}}, {"bad content"}),
        ({"created": "yesterday"}, {"bad content"}),
        ({"task": {}}, {"bad content"}),
        ({"task_sha256": "0" * 64}, {"tampered"}),
        ({"release": "0" * 64}, {"tampered"}),
        ({"fingerprint": "0" * 64}, {"tampered"}),
        ({"format": "2"}, {"not a share"}),
        ({"extra": "1"}, {"not a share"}),
        ({"receipt": {"a": 1}}, {"bad numbers", "bad content"}),
        ({"seeded": "no"}, {"bad content"}),
    ]
    for changes, reasons in cases:
        found = refused(resigned(share, keys[0]["north"], changes), members)
        assert found in reasons, changes


@pytest.mark.parametrize(
    "numbers",
    [
        {"coefficients": ["nan"] * 3},
        {"coefficients": ["inf"] * 3},
        {"coefficients": ["1e7"] * 3},
        {"coefficients": ["1"] * 2},
        {"coefficients": [["1"] * 3]},
        {"coefficients": [1.5, 2.5, 3.5]},
        {"coefficients": "1"},
        {"coefficients": ["0x1", "1", "1"]},
        {"sums": {"x": ["a"]}},
        {"sums": [1]},
    ],
)
def test_bad_numbers_are_refused(numbers, share, keys, members):
    text = canonical(json.loads(share.model_text) | numbers)
    named = {"release": hashlib.sha256(text).hexdigest()}
    bad = resigned(share, keys[0]["north"], named, text)
    assert refused(bad, members) in ("bad numbers", "bad content")


def test_another_schema_is_refused_and_an_expired_one_by_name(keys, members):
    old = Task.of_bounds([0, 0], [9, 10], classes=("well", "ill"))
    sent = make_share(train(task=old), "north", keys[0]["north"])
    assert refused(sent, members) == "wrong schema"
    knows = dataclasses.replace(members, expired={old.identity: "2026-10-01"})
    assert refused(sent, knows) == "expired schema"
    with pytest.raises(ShareRefused, match="replaced on 2026-10-01"):
        verify_share(sent, knows)


def test_a_model_of_predictable_noise_is_refused_unless_asked_for(keys, members):
    sent = make_share(train(seeded_noise(1)), "north", keys[0]["north"])
    assert refused(sent, members) == "seeded"
    assert verify_share(sent, members, allow_seeded=True).model.seeded
    hidden = resigned(sent, keys[0]["north"], {"seeded": False})
    assert refused(hidden, members) == "understated claim"


def test_one_release_sent_twice_is_one_price_and_two_are_two(keys, members):
    key = keys[0]["north"]
    again = train()
    first, same = (make_share(MODEL, "north", key, when) for when in (FIRST, LATER))
    newer = make_share(again, "north", key, LATER.replace(day=9))
    once = verify_shares([first, same], members)
    assert len(once.shares) == 1
    assert once.prices[0].epsilon == MODEL.guarantee.epsilon
    both = verify_shares([newer, first, same], members)
    assert np.array_equal(both.shares[0].model.coefficients, again.coefficients)
    assert both.prices[0].epsilon == 2 * MODEL.guarantee.epsilon
    assert len(both.repeated) == 2


def test_a_person_in_several_rolls_pays_the_largest_of_their_prices(keys, members):
    dear = make_share(train(epsilon=2), "south", keys[0]["south"])
    verified = verify_shares([make_share(MODEL, "north", keys[0]["north"]), dear], members)
    assert publish(verified, members).guarantee.epsilon == 2
    wide = dataclasses.replace(members, max_overlap=2)
    found = publish(verified, wide)
    assert found.guarantee.epsilon == 3
    assert found.prices["north"].epsilon == 1
    assert found.to_dict()["max_overlap"] == 2


def test_prices_of_other_neighbours_are_converted_before_they_are_added(keys, members):
    other = make_share(train(adjacency="substitute"), "south", keys[0]["south"])
    verified = verify_shares([make_share(MODEL, "north", keys[0]["north"]), other], members)
    wide = dataclasses.replace(members, max_overlap=2)
    total = publish(verified, wide).guarantee
    assert str(total.adjacency) == "one record is replaced by any other"
    assert total.epsilon == 3  # 2 x 1 as substitute, and 1


def test_a_price_for_persons_is_not_added_to_one_for_records(keys, members):
    person = Adjacency(ADD_REMOVE, USER, 3)
    other = make_share(train(adjacency=person), "south", keys[0]["south"])
    verified = verify_shares([make_share(MODEL, "north", keys[0]["north"]), other], members)
    assert publish(verified, members).guarantee is None


def test_what_looks_at_rows_is_not_published(keys, members):
    verified = verify_shares([make_share(MODEL, "north", keys[0]["north"])], members)
    for method in ("auto", "mirror", "ewa", "stack", "best-single", "local"):
        with pytest.raises(ParameterError, match="may not be published"):
            publish(verified, members, method)


def zipped(path: Path, parts: list[tuple[str, bytes]], **extra) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts:
            archive.writestr(name, text)
    return path


def reason_of(path: Path) -> str:
    with pytest.raises(ShareRefused) as caught:
        read_share(path)
    return caught.value.reason


GOOD = [(name, b"{}") for name in NAMES]


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    "parts",
    [
        GOOD[:2],
        [*GOOD, ("../../evil.sh", b"x")],
        [*GOOD, ("/etc/evil", b"x")],
        [*GOOD, ("model.pkl", b"x")],
        [*GOOD, GOOD[0]],
        [("sub/" + name, text) for name, text in GOOD],
        [],
    ],
)
def test_a_zip_with_anything_else_in_it_is_refused_and_nothing_is_unpacked(parts, tmp_path):
    before = set(tmp_path.parent.rglob("*evil*"))
    assert reason_of(zipped(tmp_path / "bad.zip", parts)) == "not a share"
    assert set(tmp_path.parent.rglob("*evil*")) == before


def test_a_zip_bomb_is_refused_without_being_unpacked(tmp_path):
    bomb = zipped(tmp_path / "bomb.zip", [("model.json", b"0" * (LARGEST + 10)), *GOOD[1:]])
    assert bomb.stat().st_size < 100_000
    assert reason_of(bomb) == "too large"


def test_a_file_that_is_no_zip_is_refused(tmp_path):
    for name, text in (("a.zip", b"PK\x03\x04 no"), ("b.zip", b""), ("c.zip", b"\x80\x04pickle")):
        (tmp_path / name).write_bytes(text)
        assert reason_of(tmp_path / name) == "not a share"


def test_an_encrypted_zip_is_refused(tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in GOOD:
            archive.writestr(name, text)
    text = bytearray(buffer.getvalue())
    place = text.find(b"PK\x01\x02")
    while place >= 0:  # set the flag "encrypted" of every member, in both of its headers
        text[place + 8] |= 1
        place = text.find(b"PK\x01\x02", place + 4)
    place = text.find(b"PK\x03\x04")
    while place >= 0:
        text[place + 6] |= 1
        place = text.find(b"PK\x03\x04", place + 4)
    (tmp_path / "locked.zip").write_bytes(bytes(text))
    assert reason_of(tmp_path / "locked.zip") == "not a share"


def test_a_folder_with_a_link_or_another_file_is_refused(tmp_path, share):
    linked = write_share(tmp_path / "linked", share)
    (linked / "model.json").unlink()
    (linked / "model.json").symlink_to("/etc/hostname")
    assert reason_of(linked) == "not a share"
    more = write_share(tmp_path / "more", share)
    (more / "run.py").write_text("print(1)")
    assert reason_of(more) == "not a share"


def test_text_that_is_json_but_not_canonical_is_refused(share, members):
    spaced = dataclasses.replace(
        share, manifest_text=json.dumps(json.loads(share.manifest_text)).encode()
    )
    assert refused(spaced, members) == "not a share"
    for text in (b'{"a":1,"a":2}', b"NaN", b"[" * 10**5, b"\xff"):
        bad = dataclasses.replace(share, manifest_text=text)
        assert refused(bad, members) == "not a share"


NUMBER = Task(TASK.features, Numeric(name="cost", lower=0, upper=9, missing=fill(0)))
THREE = Task.of_bounds([0, 0], [10, 10], classes=("a", "b", "c"))
GAUSSIAN = {"delta": "1e-5", "adjacency": "add-remove"}
CANDIDATES = {"candidates": [("objective", 3), ("objective", None), ("moments", None)]}


@pytest.mark.parametrize(
    ("module", "name", "task", "settings"),
    [
        ("logistic", "LogisticTraining", TASK, {}),
        ("logistic", "LogisticTraining", TASK, GAUSSIAN),
        ("softmax", "SoftmaxTraining", THREE, {}),
        ("descent", "GradientDescent", TASK, GAUSSIAN),
        ("descent", "GradientDescent", THREE, GAUSSIAN),
        ("output", "OutputPerturbation", TASK, {"ridge": 10}),
        ("output", "OutputPerturbation", TASK, GAUSSIAN | {"ridge": 10}),
        ("moments", "MomentLearner", TASK, {}),
        ("regression", "GramRegression", NUMBER, GAUSSIAN),
        ("tuned", "TunedTraining", TASK, GAUSSIAN | CANDIDATES),
        ("tuned", "TunedTraining", TASK, CANDIDATES | {"sharing": "shared"}),
        ("as_published", "PublishedTraining", TASK, {"variant": "cms"}),
        ("as_published", "PublishedTraining", TASK, GAUSSIAN | {"variant": "kst"}),
    ],
)
def test_shares_of_every_mechanism_are_verified_and_cannot_understate(
    module, name, task, settings, keys, tmp_path
):
    way = getattr(import_module(f"noren.collaboration.{module}"), name)
    own = {"task": task, "epsilon": 1, "adjacency": "substitute", "size": 40} | settings
    given = TrainingRows.empty(task)
    if own["adjacency"] == "substitute":
        x = np.random.default_rng(1).uniform(0, 10, (40, 2))
        words = x[:, 0] if task is NUMBER else [task.classes[0]] * 40
        given = TrainingRows.of(task, x, labels=words)
    model = way(**own).answer(given, Noise()).model
    agreed = Consortium(name="x", task=task, members=keys[1])
    sent = write_share(tmp_path / "a.zip", make_share(model, "north", keys[0]["north"]))
    found = verify_share(read_share(sent), agreed)
    assert found.model.guarantee.epsilon == 1
    assert {k: v.tolist() for k, v in found.model.sums.items()} == {
        k: v.tolist() for k, v in model.sums.items()}  # fmt: skip
    low = found.manifest["claim"] | {"epsilon": "9/10"}
    assert refused(resigned(found, keys[0]["north"], {"claim": low}), agreed) == "understated claim"
    if model.guarantee.delta:
        low = found.manifest["claim"] | {"delta": str(model.guarantee.delta / 2)}
        bad = resigned(found, keys[0]["north"], {"claim": low})
        assert refused(bad, agreed) == "understated claim"


@pytest.mark.parametrize("settings", [{}, CANDIDATES, {"ridge": 10}])
@pytest.mark.parametrize("exponent", ["1000000000000", "-1000000000000", "1001"])
def test_a_grid_that_no_computer_could_hold_is_refused_at_once(settings, exponent, keys, members):
    way = {"": MomentLearner, "candidates": TunedTraining, "ridge": OutputPerturbation}[
        "".join(settings)
    ]
    asked = way(task=TASK, epsilon=1, adjacency="add-remove", size=40, **settings)
    sent = make_share(asked.answer(rows(), Noise()).model, "north", keys[0]["north"])
    stated = dict(sent.manifest["parameters"])
    if "candidates" in stated:
        old = stated["candidates"]
        stated["candidates"] = old.replace('"exponent":"-20"', f'"exponent":"{exponent}"')
        assert stated["candidates"] != old
    else:
        stated["exponent"] = exponent
    bad = resigned(sent, keys[0]["north"], {"parameters": stated})
    assert refused(bad, members) == "bad parameters"


def test_a_candidate_of_other_width_than_the_model_is_refused(keys, members):
    asked = TunedTraining(task=TASK, epsilon=1, adjacency="add-remove", size=40, **CANDIDATES)
    sent = make_share(asked.answer(rows(), Noise()).model, "north", keys[0]["north"])
    stated = dict(sent.manifest["parameters"])
    stated["candidates"] = stated["candidates"].replace('"dimension":"3"', '"dimension":"2"', 1)
    bad = resigned(sent, keys[0]["north"], {"parameters": stated})
    assert refused(bad, members) == "bad content"
    with pytest.raises(NotPrivate, match="another number of coordinates"):
        recompute_claim("tuned", asked.parameters | {"candidates": stated["candidates"]})
    stated["candidates"] = "[" * 100_000 + "]" * 100_000
    assert refused(resigned(sent, keys[0]["north"], {"parameters": stated}), members) in (
        "bad content", "not a share")  # fmt: skip


def test_a_candidate_of_fewer_classes_than_the_task_is_refused(keys):
    tried = {"candidates": [("softmax", None), ("softmax", 20)]}
    asked = TunedTraining(task=THREE, epsilon=1, adjacency="add-remove", size=40, **tried)
    model = asked.answer(TrainingRows.empty(THREE), Noise()).model
    agreed = Consortium(name="x", task=THREE, members=keys[1])
    sent = make_share(model, "north", keys[0]["north"])
    assert verify_share(sent, agreed).model.guarantee.epsilon == 1
    stated = dict(sent.manifest["parameters"])
    stated["candidates"] = stated["candidates"].replace('"classes":"3"', '"classes":"2"', 1)
    bad = resigned(sent, keys[0]["north"], {"parameters": stated})
    assert refused(bad, agreed) == "bad content"


def test_a_key_is_private_to_its_owner_and_never_written_over(tmp_path):
    public = keygen(tmp_path / "north.key")
    assert stat.S_IMODE((tmp_path / "north.key").stat().st_mode) == 0o600
    assert signing.public_key_of(read_key(tmp_path / "north.key")) == public
    with pytest.raises(FileProblem, match="never written over"):
        keygen(tmp_path / "north.key")


def test_what_is_no_key_is_refused_without_quoting_it(tmp_path):
    (tmp_path / "bad.key").write_text("-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END")
    for name in ("bad.key", "absent.key"):
        with pytest.raises(FileProblem) as caught:
            read_key(tmp_path / name)
        assert "c2VjcmV0" not in str(caught.value)


WRITTEN = """
name = "hearts"
label = "ill"
intercept = 1
max_overlap = 2

[members]
north = "{key}"

[[columns]]
name = "age"
kind = "integer"
lower = 0
upper = 110
missing = "own"

[[columns]]
name = "ill"
kind = "boolean"
missing = {{ fill = false }}

[[expired]]
task = "00ff"
since = "2026-10-01"
"""


def test_a_consortium_is_read_from_the_file_that_its_members_wrote(tmp_path, keys):
    file = tmp_path / "hearts.toml"
    file.write_text(WRITTEN.format(key=keys[1]["north"]))
    found = Consortium.read(file)
    assert (found.name, found.max_overlap, list(found.members)) == ("hearts", 2, ["north"])
    assert found.task.names == ("age", "age is missing", "intercept")
    assert found.expired == {"00ff": "2026-10-01"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('label = "ill"', 'label = "sick"'),
        ("max_overlap = 2", "max_overlap = 0"),
        ('name = "hearts"', ""),
        ("{key}", "123"),
        ("[members]", "[membrane]"),
    ],
)
def test_a_consortium_that_makes_no_sense_is_refused(tmp_path, keys, old, new):
    text = WRITTEN.replace(old, new, 1).format(key=keys[1]["north"])
    (tmp_path / "bad.toml").write_text(text)
    with pytest.raises((SchemaError, ParameterError, FileProblem)):
        Consortium.read(tmp_path / "bad.toml")


def test_two_members_with_one_key_are_refused(keys):
    key = keys[1]["north"]
    with pytest.raises(SchemaError, match="one key"):
        Consortium(name="x", task=TASK, members={"north": key, "south": key})
