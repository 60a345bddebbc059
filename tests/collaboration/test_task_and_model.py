"""A task encodes rows by public rules alone, and a model travels as JSON bit for bit."""

import json
from fractions import Fraction

import numpy as np
import pytest

from noren.collaboration import PrivateModel, Task
from noren.data import OWN, Boolean, Categorical, Numeric, Schema, block_of, fill
from noren.errors import ParameterError, SchemaError
from noren.privacy import Guarantee
from noren.question import Receipt

AGE = Numeric(name="age", lower=0, upper=100, missing=OWN)
ILL = Boolean(name="ill", missing=fill(False))
GOOD = {
    "adjacency": "add-remove", "unit": "record", "max_records": 1,
    "epsilon": Fraction(1), "delta": Fraction(0),
    "dimension": 3, "size": 100, "law": "discrete Laplace", "noise": Fraction(5, 3),
    "exponent": -20, "weight": 1.0,
}  # fmt: skip


def model(**changes) -> PrivateModel:
    given = {
        "task": Task(Schema([AGE]), ILL), "mechanism": "moments", "parameters": GOOD,
        "coefficients": [0.1, -1 / 3, 1e-17], "guarantee": Guarantee("add-remove", epsilon="1/3"),
        "sums": {"moments": np.array([1.5, 2, 3])}, "marks": ("a mark",),
        "receipt": Receipt("clinic", "r1", "ab"),
    }  # fmt: skip
    return PrivateModel(**{**given, **changes})


def test_rows_have_norm_at_most_one_whatever_they_hold():
    features = Schema([Numeric(name=f"x{j}", lower=0, upper=1, missing=fill(0)) for j in range(9)])
    task = Task(features, ILL, scale=1)
    rows = task.rows(np.random.default_rng(1).normal(size=(500, 9)) * 1e6)
    assert np.linalg.norm(rows, axis=1).max() <= 1
    assert np.linalg.norm(rows, axis=1).min() > 0.999


def test_a_row_is_the_same_alone_and_among_others():
    task = Task(Schema([AGE]), ILL)
    assert np.array_equal(
        task.rows({"age": [3, None, 250]})[1:2], task.rows({"age": np.array([np.nan])})
    )


def test_labels_become_signs_classes_or_bounded_numbers():
    two = block_of({"age": [1, 2], "ill": ["yes", "no"]}, Task(Schema([AGE]), ILL).schema)
    assert Task(Schema([AGE]), ILL).targets(two).tolist() == [1.0, -1.0]
    many = Categorical(name="kind", categories=("a", "b", "c"), missing=fill("a"))
    task = Task(Schema([AGE]), many)
    assert task.kind == "multiclass"
    assert task.targets(block_of({"age": [1, 2], "kind": ["c", "?"]}, task.schema)).tolist() == [
        2,
        0,
    ]
    task = Task(Schema([AGE]), Numeric(name="cost", lower=-10, upper=20, missing=fill(0)))
    table = block_of({"age": [1, 2], "cost": [500, -10]}, task.schema)
    assert task.targets(table).tolist() == [1.0, -0.5]


def test_a_label_with_one_class_or_among_the_features_is_refused():
    with pytest.raises(SchemaError, match="declares one class"):
        Task(Schema([AGE]), Categorical(name="y", categories=("a",), missing=fill("a")))
    with pytest.raises(SchemaError, match="both a feature and the label"):
        Task(Schema([AGE]), AGE)


def test_a_model_comes_back_from_json_bit_for_bit():
    sent = model()
    text = json.dumps(sent.to_dict(), sort_keys=True)
    read = PrivateModel.from_dict(json.loads(text))
    assert json.dumps(read.to_dict(), sort_keys=True) == text
    assert np.array_equal(read.coefficients, sent.coefficients)
    assert read.guarantee == sent.guarantee
    assert read.task.identity == sent.task.identity
    assert read.parameters["noise"] == Fraction(5, 3)


def test_a_model_with_a_missing_parameter_or_a_bad_number_is_refused():
    form = model().to_dict()
    parameters = {k: v for k, v in form["parameters"].items() if k != "noise"}
    with pytest.raises(SchemaError, match="lack \\['noise'\\]"):
        PrivateModel.from_dict({**form, "parameters": parameters})
    with pytest.raises(SchemaError, match="must be finite"):
        PrivateModel.from_dict({**form, "coefficients": ["nan", "0", "0"]})
    with pytest.raises(ParameterError, match="at most 1e6"):
        PrivateModel.from_dict({**form, "coefficients": ["1e7", "0", "0"]})
    with pytest.raises(SchemaError, match="not one that this version knows"):
        PrivateModel.from_dict({**form, "mechanism": "eval"})


def test_predictions_follow_the_sign_of_the_score():
    fitted = model(coefficients=[1.0, 0, 0])
    assert fitted.predict({"age": [10, 90, 50]}).tolist() == ["false", "true", "true"]
    assert fitted.probabilities({"age": [50]}).tolist() == [[0.5, 0.5]]
