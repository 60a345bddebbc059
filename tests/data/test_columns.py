"""Columns and schemas: what can be declared, and what is refused in words."""

import hashlib
import json
import subprocess
import sys
from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.data import (
    DROP,
    OWN,
    Boolean,
    Categorical,
    Integer,
    Missing,
    Numeric,
    Ordered,
    Schema,
    Text,
    fill,
)
from noren.errors import FileProblem, NorenError, SchemaError

AGE = Integer(name="age", lower=0, upper=110, missing=DROP)
TOWN = Categorical(name="town", categories=("Nara", "Uji"), other="elsewhere", missing=OWN)
MIXED = Schema(
    [
        AGE,
        TOWN,
        Numeric(name="income", lower=0, upper=1e6, missing=fill(100), unit="yen"),
        Ordered(name="grade", categories=("low", "mid", "high"), other="low", missing=fill("mid")),
        Boolean(name="smokes", missing=OWN),
        Text(name="id", missing=fill("nobody")),
    ]
)

# 1. oracle


def test_identity_is_the_sha256_of_the_canonical_json():
    canonical = (
        '{"columns":[{"kind":"integer","lower":0,"missing":"drop","name":"age",'
        '"outside":"clamp","unit":"","upper":110}],"format":1,'
        '"missing_words":["","NA"]}'
    )
    expected = hashlib.sha256(canonical.encode()).hexdigest()
    assert Schema([AGE], missing_words=["", "NA"]).identity == expected


def test_levels_are_the_categories_then_other_then_missing():
    assert TOWN.levels == ("Nara", "Uji", "elsewhere", "missing")
    assert TOWN.stand_in == 3
    merged = Categorical(name="t", categories=("a", "rest"), other="rest", missing=fill("a"))
    assert merged.levels == ("a", "rest")
    assert merged.stand_in == 0


@pytest.mark.parametrize(
    ("lower", "upper", "missing", "stand_in"),
    [(0, 10, OWN, 5), (-3, 4, OWN, 0), (0, 10, fill(7), 7), (0, 10, fill(0), 0)],
)
def test_a_missing_number_becomes_the_middle_or_the_fill_value(lower, upper, missing, stand_in):
    assert Integer(name="k", lower=lower, upper=upper, missing=missing).stand_in == stand_in


def test_the_middle_of_the_widest_bounds_is_zero_and_wider_ones_are_refused():
    assert Numeric(name="x", lower=-1e300, upper=1e300, missing=OWN).stand_in == 0
    with pytest.raises(SchemaError, match="at most 1e300"):
        Numeric(name="x", lower=-1.7e308, upper=0, missing=OWN)


def test_toml_and_json_say_the_same_and_the_default_rule_is_spelled_out(tmp_path):
    (tmp_path / "s.toml").write_text(
        'missing = "drop"\n[[columns]]\nname = "age"\nkind = "integer"\nlower = 0\nupper = 110\n'
        '[[columns]]\nname = "town"\nkind = "categorical"\ncategories = ["Nara", "Uji"]\n'
        'other = "elsewhere"\nmissing = "own"\n'
    )
    schema = Schema.read(tmp_path / "s.toml")
    assert schema == Schema([AGE, TOWN])
    schema.write(tmp_path / "s.json")
    assert Schema.read(tmp_path / "s.json") == schema
    assert json.loads((tmp_path / "s.json").read_text())["columns"][0]["missing"] == "drop"


# 2. property

words = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1)
bounds = st.tuples(st.integers(-(2**53) + 1, 2**53 - 1), st.integers(-(2**53) + 1, 2**53 - 1))


@st.composite
def columns(draw, name):
    kind = draw(st.sampled_from(["numeric", "integer", "levels", "boolean", "text"]))
    if kind in ("numeric", "integer"):
        lower, upper = sorted(draw(bounds.filter(lambda pair: pair[0] != pair[1])))
        rule = draw(st.sampled_from([DROP, OWN, fill(lower)]))
        outside = draw(st.sampled_from(["clamp", "missing"]))
        made = {"numeric": Numeric, "integer": Integer}[kind]
        return made(name=name, lower=lower, upper=upper, missing=rule, outside=outside)
    if kind == "levels":
        levels = draw(st.lists(words.filter(lambda w: w != "missing"), min_size=1, unique=True))
        made = draw(st.sampled_from([Categorical, Ordered]))
        rule = draw(st.sampled_from([DROP, OWN, fill(levels[-1])]))
        return made(name=name, categories=levels, other=levels[0], missing=rule)
    if kind == "boolean":
        return Boolean(name=name, missing=draw(st.sampled_from([DROP, OWN, fill(True)])))
    return Text(name=name, missing=draw(st.sampled_from([DROP, fill("")])))


@st.composite
def schemas(draw):
    names = draw(st.lists(words.filter(str.isprintable), min_size=1, max_size=4, unique=True))
    return Schema([draw(columns(name)) for name in names])


@given(schemas())
def test_a_schema_comes_back_from_its_json_with_the_same_identity(schema):
    again = Schema.from_dict(json.loads(json.dumps(schema.to_dict())))
    assert again == schema
    assert again.identity == schema.identity


@given(schemas(), schemas())
def test_schemas_are_equal_exactly_when_their_identities_are(first, second):
    assert (first == second) == (first.identity == second.identity)


def test_one_way_of_writing_a_number_is_as_good_as_another():
    assert Numeric(name="x", lower="0.1", upper=1, missing=OWN) == Numeric(
        name="x", lower=Fraction(1, 10), upper=1.0, missing=OWN
    )


def test_the_order_of_columns_and_of_levels_is_part_of_the_identity():
    assert Schema([AGE, TOWN]).identity != Schema([TOWN, AGE]).identity
    turned = Categorical(name="town", categories=("Uji", "Nara"), other="elsewhere", missing=OWN)
    assert Schema([TOWN]).identity != Schema([turned]).identity


def test_declaring_a_schema_loads_no_reader():
    code = "import sys; from noren.data import Schema; print('pyarrow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_selecting_columns_keeps_their_rules_in_the_order_asked_for():
    chosen = MIXED.select(["smokes", "age"])
    assert chosen.names == ("smokes", "age")
    assert chosen["age"] == AGE
    assert len(chosen) == 2


# 4. misuse


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Integer(name="", lower=0, upper=1, missing=DROP), "non-empty"),
        (lambda: Integer(name="a\nb", lower=0, upper=1, missing=DROP), "printable"),
        (lambda: Integer(name="k", lower=2, upper=1, missing=DROP), "below upper"),
        (lambda: Integer(name="k", lower=1, upper=1, missing=DROP), "below upper"),
        (lambda: Integer(name="k", lower=0, upper=2.5, missing=DROP), "whole number"),
        (lambda: Integer(name="k", lower=0, upper=2**53, missing=DROP), "2^53 - 1"),
        (lambda: Integer(name="k", lower=0, upper=9, missing=fill(10)), "between 0 and 9"),
        (lambda: Integer(name="k", lower=0, upper=9, missing=fill(True)), "whole number"),
        (lambda: Integer(name="k", lower=0, upper=9, missing=DROP, outside="x"), "'clamp'"),
        (lambda: Numeric(name="x", lower=None, upper=1, missing=DROP), "finite number"),
        (lambda: Numeric(name="x", lower=0, upper=float("inf"), missing=DROP), "finite number"),
        (lambda: Numeric(name="x", lower=0, upper="1e999", missing=DROP), "finite number"),
        (lambda: Numeric(name="x", lower=0, upper=1, missing=fill("b")), "finite number"),
        (lambda: Numeric(name="x", lower=0, upper=1, missing=None), "no default"),
        (lambda: Numeric(name="x", lower=0, upper=1, missing="keep"), "'drop', 'own'"),
        (lambda: Numeric(name="x", lower=0, upper=1, missing=DROP, unit=3), "unit"),
        (lambda: Categorical(name="c", categories=(), missing=DROP), "non-empty list"),
        (lambda: Categorical(name="c", categories="abc", missing=DROP), "non-empty list"),
        (lambda: Categorical(name="c", categories=("a", "a"), missing=DROP), "twice"),
        (lambda: Categorical(name="c", categories=("a", " b"), missing=DROP), "spaces around"),
        (lambda: Categorical(name="c", categories=("a", 1), missing=DROP), "in quotes"),
        (lambda: Categorical(name="c", categories=("a", "\ud800"), missing=DROP), "string"),
        (lambda: Categorical(name="c", categories=("a",), missing=fill("b")), "one of its"),
        (lambda: Categorical(name="c", categories=("missing",), missing=OWN), "share a name"),
        (lambda: Ordered(name="o", categories=("a",), other="b", missing=OWN), "no place"),
        (lambda: Boolean(name="b", missing=fill("yes")), "true or false"),
        (lambda: Text(name="t", missing=OWN), "dropped or filled"),
        (lambda: Missing("guess"), "'drop', 'own' or 'fill'"),
        (lambda: Schema([]), "at least one"),
        (lambda: Schema([AGE, AGE]), "declared twice"),
        (lambda: Schema(["age"]), "must be one of"),
        (lambda: Schema([AGE], missing_words="NA"), "list of strings"),
        (lambda: Schema([AGE])["sex"], "declares 'age'"),
    ],
)
def test_a_wrong_declaration_is_refused_in_words(make, said):
    with pytest.raises(SchemaError) as caught:
        make()
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ([], "list 'columns'"),
        ({}, "list 'columns'"),
        ({"columns": {}}, "list 'columns'"),
        ({"columns": [], "rows": 3}, "list 'columns'"),
        ({"columns": []}, "non-empty list of columns"),
        ({"columns": [3]}, "at least a name"),
        ({"columns": [{"name": "a", "kind": "date"}]}, "must be 'numeric'"),
        ({"columns": [{"name": "a", "kind": "boolean"}]}, "no default"),
        ({"columns": [{"name": "a", "kind": "integer", "missing": "own"}]}, "lacks 'lower'"),
        ({"columns": [{"name": "a", "kind": "boolean", "missing": "own", "low": 1}]}, "'low'"),
        ({"columns": [{"name": "a", "kind": "boolean", "missing": {"fill": []}}]}, "true or"),
        ({"columns": [{"name": "a", "kind": "boolean", "missing": {"full": 1}}]}, "no default"),
        ({"format": 2, "columns": []}, "format is not 1"),
    ],
)
def test_a_wrong_written_form_is_refused_in_words(written, said):
    with pytest.raises(SchemaError) as caught:
        Schema.from_dict(written)
    assert said in str(caught.value)


@pytest.mark.parametrize("suffix", [".toml", ".json"])
@pytest.mark.parametrize("content", [b"\xff\xfe", b"PRIVATE-7731,12\n", b"[" * 100_000])
def test_a_data_file_taken_for_a_schema_is_refused_and_not_quoted(tmp_path, suffix, content):
    path = tmp_path / f"wrong{suffix}"
    path.write_bytes(content)
    with pytest.raises(NorenError) as caught:
        Schema.read(path)
    assert "PRIVATE-7731" not in str(caught.value)


def test_a_table_in_json_taken_for_a_schema_is_refused_and_not_quoted(tmp_path):
    path = tmp_path / "records.json"
    path.write_text('{"PRIVATE-7731": 3, "columns": []}')
    with pytest.raises(SchemaError) as caught:
        Schema.read(path)
    assert "PRIVATE-7731" not in str(caught.value)


def test_a_missing_schema_file_is_named(tmp_path):
    with pytest.raises(FileProblem, match=r"absent\.json"):
        Schema.read(tmp_path / "absent.json")


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
entries = st.dictionaries(
    st.sampled_from(
        ["name", "kind", "lower", "upper", "categories", "missing", "other", "outside", "unit"]
    ),
    st.sampled_from(["numeric", "integer", "categorical", "ordered", "boolean", "text", "own"])
    | json_values,
)


@given(json_values | st.builds(lambda c: {"columns": c}, st.lists(entries)))
def test_no_json_value_makes_a_schema_fail_in_another_way(written):
    with suppress(NorenError):
        assert Schema.from_dict(written).identity
