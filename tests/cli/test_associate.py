"""`noren associate`: from files to a paid answer, and nothing charged where something is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet
import pytest

from noren import Guarantee
from noren.association import simulate
from noren.association.scoring import SAME_STATUS
from noren.ledger import Ledger

BUDGET = 50


@pytest.fixture(scope="module")
def cohort(tmp_path_factory) -> Path:
    """A small cohort with strong hits, in blocks of five."""
    stem = tmp_path_factory.mktemp("cohort") / "study"
    simulate(stem, cases=300, controls=300, variants=200, seed=5, hits=4, block=5)
    return stem


@pytest.fixture(autouse=True)
def account(tmp_path, monkeypatch) -> Path:
    """An account for every test, named by the environment."""
    monkeypatch.chdir(tmp_path)
    for name in ("NOREN_LEDGER", "NOREN_ACCOUNT"):
        monkeypatch.delenv(name, raising=False)
    place = tmp_path / "ledger.sqlite"
    with Ledger.open(place) as ledger:
        ledger.create_account("study", Guarantee(SAME_STATUS, epsilon=BUDGET))
    monkeypatch.setenv("NOREN_LEDGER", str(place))
    monkeypatch.setenv("NOREN_ACCOUNT", "study")
    return place


def spent(place: Path) -> float:
    with Ledger.open(place) as ledger:
        return float(ledger.balance("study").spent.epsilon)


def copied(cohort: Path, folder: Path) -> Path:
    """Copy the three files, to be damaged."""
    for ending in (".bed", ".bim", ".fam"):
        source = cohort.with_name(cohort.name + ending)
        (folder / f"copy{ending}").write_bytes(source.read_bytes())
    return folder / "copy"


def hits_of(cohort: Path) -> set[str]:
    return set(cohort.with_name(cohort.name + ".hits").read_text().split())


def test_a_scan_gives_every_variant_a_score_a_p_value_and_a_decision(cohort, result_of, account):
    found = result_of("associate", "scan", cohort, "--epsilon", 40)
    assert found["kind"] == "distance-scores"
    assert found["guarantee"]["epsilon"] == 40
    assert "same status" in found["guarantee"]["adjacency"]
    rows = found["result"]["rows"]
    assert len(rows) == 200
    assert list(rows[0]) == [
        "snp", "chromosome", "position", "score", "p", "p_adjusted", "associated"
    ]  # fmt: skip
    assert found["result"]["settings"]["mode"] == "valid"
    assert found["result"]["settings"]["epsilon_per_test"] == 0.2
    assert found["result"]["receipt"]["account"] == "study"
    assert spent(account) == 40


def test_the_forecast_alone_reads_no_genotype_and_spends_nothing(
    cohort, result_of, account, tmp_path
):
    copy = copied(cohort, tmp_path)
    bed = copy.with_name("copy.bed")
    bed.write_bytes(bed.read_bytes()[:3] + b"\xff" * (bed.stat().st_size - 3))
    found = result_of("associate", "scan", copy, "--epsilon", 4, "--delta", "1e-6", "--dry-run")
    assert found["kind"] == "forecast"
    assert found["guarantee"]["delta"] == 1e-6
    assert spent(account) == 0


def test_the_strongest_loci_are_found(cohort, result_of):
    loci = cohort.with_name(cohort.name + ".loci")
    found = result_of(
        "associate", "scan", cohort, "--epsilon", 30, "--top", 4, "--loci", loci,
        "--scores-epsilon", 10,
    )  # fmt: skip
    blocks = dict(line.split("\t") for line in loci.read_text().splitlines()[1:])
    planted = {blocks[name] for name in hits_of(cohort)}
    chosen = {row["locus"] for row in found["result"]["rows"]}
    assert len(planted & chosen) >= 3
    assert {"score", "p", "p_adjusted"} <= set(found["result"]["rows"][0])
    assert found["result"]["settings"]["unit"] == "locus"


@pytest.mark.parametrize(
    ("extra", "kind", "columns"),
    [
        (("--top", "3"), "top-snps", {"snp", "chromosome", "position"}),
        (("--top", "3", "--ordered"), "top-snps", {"rank", "snp", "chromosome", "position"}),
        (("--top", "3", "--loci", "10kb"), "top-snps", {"locus", "variants"}),
        (("--bits", "--tau", "3.84"), "decisions",
         {"snp", "chromosome", "position", "significant"}),
        (("--counts",), "noisy-counts", {"snp", "chromosome", "position", "a", "b", "odds_ratio"}),
        (("--mode", "agreement", "--tau", "3.84"), "distance-scores",
         {"snp", "chromosome", "position", "score", "significant"}),
    ],
)  # fmt: skip
def test_every_way_of_asking_has_its_table(cohort, result_of, extra, kind, columns):
    found = result_of("associate", "scan", cohort, "--epsilon", 2, *extra)
    assert found["kind"] == kind
    assert set(found["result"]["rows"][0]) == columns


def test_the_same_request_is_answered_again_for_nothing(cohort, result_of, account):
    asked = ("associate", "scan", cohort, "--epsilon", 5, "--request-id", "scan-1")
    first, again = result_of(*asked), result_of(*asked)
    assert first["result"]["rows"] == again["result"]["rows"]
    assert spent(account) == 5


def test_whole_tables_are_written_with_their_price(cohort, run, tmp_path):
    for ending in (".csv", ".parquet", ".json"):
        out = tmp_path / f"table{ending}"
        done = run("associate", "scan", cohort, "--epsilon", 5, "--out", out)
        assert done.exit_code == 0, done.stderr
    about = json.loads((tmp_path / "table.csv.about.json").read_text())
    assert about["guarantee"]["epsilon"] == 5
    assert pyarrow.csv.read_csv(tmp_path / "table.csv").num_rows == 200
    parquet = pyarrow.parquet.read_table(tmp_path / "table.parquet")
    assert parquet.num_rows == 200
    assert json.loads(parquet.schema.metadata[b"noren"])["guarantee"]["epsilon"] == 5
    whole = json.loads((tmp_path / "table.json").read_text())
    assert len(whole["result"]["columns"]["score"]) == 200


def test_a_report_shows_the_scan_and_opens_offline(cohort, run, tmp_path):
    page = tmp_path / "scan.html"
    done = run("associate", "scan", cohort, "--epsilon", 5, "--report", page)
    assert done.exit_code == 0, done.stderr
    text = page.read_text()
    assert "expected -log10 p" in text
    assert "mode: valid test at level alpha" in text
    assert text.count("<figure>") == 2


def test_a_report_reads_the_answer_as_the_options_say(cohort, run, tmp_path):
    page = tmp_path / "scan.html"
    run("associate", "scan", cohort, "--epsilon", 5, "--report", page, "--correction", "bonferroni")
    assert "(Bonferroni)" in page.read_text()
    assert "(Holm)" not in page.read_text()


def test_nothing_is_paid_for_a_file_that_may_not_be_written(cohort, run, account, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: False)
    for option, name in (("--out", "x.csv"), ("--report", "x.html")):
        done = run("associate", "scan", cohort, "--epsilon", 1, option, name)
        assert (done.exit_code, "that you may write" in done.stderr) == (3, True)
    assert spent(account) == 0


def test_a_repeat_says_that_nothing_was_charged(cohort, run):
    asked = ("associate", "scan", cohort, "--epsilon", 5, "--request-id", "one")
    first, again = run(*asked), run(*asked)
    assert "Charged to account" in first.stderr
    assert "It was answered before: nothing was charged." in again.stderr
    assert "Charged to account" not in again.stderr
    assert first.stdout == again.stdout


def test_people_see_the_strongest_rows_first(cohort, run):
    done = run("associate", "scan", cohort, "--epsilon", 45)
    assert "of 200 variants associated at level 0.05 (Holm)" in done.stdout
    assert "... and 180 more; --out FILE writes them all." in done.stdout
    assert "Price: epsilon 45" in done.stderr


def test_a_single_table_is_tested(result_of, account):
    found = result_of("associate", "table", 130, 95, 200, 200, "--epsilon", 1)
    assert len(found["result"]["rows"]) == 1
    agreed = result_of(
        "associate", "table", 130, 95, 200, 200, "--epsilon", 1, "--mode", "agreement",
        "--tau", "3.84",
    )  # fmt: skip
    assert isinstance(agreed["result"]["rows"][0]["significant"], bool)
    assert spent(account) == 2


def test_a_table_of_counts_is_scanned_like_files(result_of, tmp_path):
    counts = tmp_path / "counts.csv"
    counts.write_text("snp,a,b\nrs1,90,20\nrs2,30,31\n")
    found = result_of(
        "associate", "scan", counts, "--epsilon", 20, "--cases", 100, "--controls", 100
    )
    assert [row["snp"] for row in found["result"]["rows"]] == ["rs1", "rs2"]
    assert found["result"]["rows"][0]["associated"]
    assert found["result"]["settings"]["design"] == {"cases": 100, "controls": 100, "step": 1}


def test_listed_variants_alone_are_tested_and_paid(cohort, result_of, tmp_path):
    wanted = tmp_path / "tests.txt"
    wanted.write_text("rs7\nrs3\n")
    found = result_of("associate", "scan", cohort, "--epsilon", 2, "--tests", wanted)
    assert [row["snp"] for row in found["result"]["rows"]] == ["rs3", "rs7"]
    assert found["result"]["settings"]["epsilon_per_test"] == 1


def test_seeded_noise_is_marked_and_charged_to_nobody(cohort, run, account):
    done = run("associate", "scan", cohort, "--epsilon", 5, "--no-ledger", "--insecure-seed", 1)
    assert done.exit_code == 0, done.stderr
    assert "NOT PRIVATE" in done.stdout
    assert spent(account) == 0


def test_without_an_account_the_command_that_makes_the_right_one_is_printed(
    cohort, run, monkeypatch
):
    monkeypatch.delenv("NOREN_ACCOUNT")
    done = run("associate", "scan", cohort, "--epsilon", 1)
    assert done.exit_code == 3
    assert '--adjacency substitute --within "same status"' in done.stderr


def test_a_budget_that_would_be_passed_is_refused(cohort, run, account):
    done = run("associate", "scan", cohort, "--epsilon", BUDGET + 1)
    assert done.exit_code == 4
    assert spent(account) == 0


def damage_truncate(copy: Path) -> None:
    bed = copy.with_name("copy.bed")
    bed.write_bytes(bed.read_bytes()[:-100])


def damage_fewer_people(copy: Path) -> None:
    fam = copy.with_name("copy.fam")
    fam.write_text("".join(fam.read_text().splitlines(keepends=True)[:-8]))


def damage_no_phenotypes(copy: Path) -> None:
    fam = copy.with_name("copy.fam")
    lines = [line.split() for line in fam.read_text().splitlines()]
    fam.write_text("".join(" ".join([*words[:5], "-9"]) + "\n" for words in lines))


def damage_no_cases(copy: Path) -> None:
    fam = copy.with_name("copy.fam")
    lines = [line.split() for line in fam.read_text().splitlines()]
    fam.write_text("".join(" ".join([*words[:5], "1"]) + "\n" for words in lines))


def damage_sample_major(copy: Path) -> None:
    bed = copy.with_name("copy.bed")
    bed.write_bytes(b"\x6c\x1b\x00" + bed.read_bytes()[3:])


def damage_repeated_id(copy: Path) -> None:
    bim = copy.with_name("copy.bim")
    lines = bim.read_text().splitlines()
    lines[1] = lines[1].replace("rs2", "rs1")
    bim.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (damage_truncate, "truncated"),
        (damage_fewer_people, "do not belong together"),
        (damage_no_phenotypes, "phenotype"),
        (damage_no_cases, "at least one case"),
        (damage_sample_major, "sample-major"),
        (damage_repeated_id, "'rs1' is listed twice"),
    ],
)
def test_bad_files_are_refused_in_words_and_nothing_is_charged(
    cohort, run, account, tmp_path, damage, said
):
    copy = copied(cohort, tmp_path)
    damage(copy)
    done = run("associate", "scan", copy, "--epsilon", 1)
    assert done.exit_code == 3
    assert said in done.stderr
    assert "Sorry, this is a bug" not in done.stderr
    assert spent(account) == 0


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        (("--epsilon", "0"), "epsilon"),
        (("--epsilon", "1", "--delta", "1"), "delta"),
        (("--epsilon", "1", "--tau", "600"), "tau"),
        (("--epsilon", "1", "--coding", "trend"), "cannot be asked privately"),
        (("--epsilon", "1", "--coding", "genotype"), "cannot be asked privately"),
        (("--epsilon", "1", "--top", "500"), "top"),
        (("--epsilon", "1", "--cases", "3"), "cases"),
        (("--epsilon", "1", "--out", "x.txt"), "--out"),
        (("--epsilon", "1", "--out", "nowhere/x.csv"), "a folder that exists"),
        (("--epsilon", "1", "--report", "nowhere/x.html"), "a folder that exists"),
    ],
)
def test_bad_settings_are_refused_in_words_and_nothing_is_charged(
    cohort, run, account, extra, said
):
    done = run("associate", "scan", cohort, *extra)
    assert done.exit_code == 3
    assert said in done.stderr
    assert spent(account) == 0


@pytest.mark.parametrize(
    "extra",
    [
        ("--top", "3", "--bits"),
        ("--bits", "--counts"),
        ("--bits",),
        ("--loci", "10kb"),
        ("--ordered",),
        ("--top", "3", "--alpha", "0.05"),
        ("--counts", "--tau", "3"),
        ("--top", "0"),
        ("--top", "3", "--null", "common_rate"),
        ("--counts", "--null", "common_rate"),
        ("--mode", "agreement", "--tau", "3.84", "--null", "common_rate"),
        ("--mode", "agreement", "--tau", "3.84", "--correction", "bonferroni"),
        ("--top", "3", "--scores-epsilon", "0.5", "--correction", "bonferroni"),
    ],
)
def test_options_that_do_not_go_together_are_wrong_usage(cohort, run, account, extra):
    done = run("associate", "scan", cohort, "--epsilon", "1", *extra)
    assert done.exit_code == 2
    assert spent(account) == 0


def test_p_values_of_alleles_say_what_else_they_assume(cohort, result_of):
    asked = ("associate", "scan", cohort, "--epsilon", 1)
    assert not any("Hardy" in mark for mark in result_of(*asked)["result"]["marks"])
    marks = result_of(*asked, "--coding", "allelic")["result"]["marks"]
    assert any("Hardy-Weinberg" in mark for mark in marks)


def test_an_account_of_other_neighbors_is_refused_in_words_that_fit(cohort, run, account):
    run("ledger", "create", "plain", "--adjacency", "substitute", "--epsilon", "5")
    done = run("associate", "scan", cohort, "--epsilon", "1", "--account", "plain")
    assert done.exit_code == 3
    assert "an account that was opened within the same words" in done.stderr


def test_a_vcf_is_pointed_to_its_conversion(run, tmp_path):
    (tmp_path / "x.vcf").write_text("##fileformat=VCFv4.2\n")
    done = run("associate", "scan", tmp_path / "x.vcf", "--epsilon", 1)
    assert done.exit_code == 3
    assert "noren associate convert" in done.stderr


def test_a_made_up_cohort_is_written(result_of, tmp_path):
    found = result_of(
        "associate", "simulate", tmp_path / "made", "--cases", 20, "--controls", 30,
        "--variants", 40, "--hits", 2, "--data-seed", 1,
    )  # fmt: skip
    assert found["result"]["simulated"] is True
    assert len(found["result"]["hits"]) == 2
    assert all(Path(name).exists() for name in found["result"]["files"])


def test_what_p_values_assume_is_chosen_for_nothing_and_recorded(cohort, result_of, account):
    asked = ("associate", "scan", cohort, "--epsilon", 5, "--request-id", "one")
    plain = result_of(*asked)["result"]
    known = result_of(*asked, "--null", "common_rate", "--rate-range", "0.05", "0.5")["result"]
    assert plain["reading"] == {"null": "permutation", "correction": "holm"}
    assert known["reading"]["rate_range"] == [0.05, 0.5]
    pairs = zip(plain["rows"], known["rows"], strict=True)
    assert all(a["score"] == b["score"] and a["p"] >= b["p"] * 0.999 for a, b in pairs)
    other = result_of(*asked, "--correction", "benjamini-yekutieli")["result"]
    called = sum(row["associated"] for row in other["rows"])
    assert other["headline"].startswith(f"{called} of 200 variants associated at level 0.05 (Benj")
    assert spent(account) == 5


@pytest.mark.parametrize(
    ("extra", "code"),
    [
        (("--rate-range", "0.1", "0.5"), 2),
        (("--null", "common_rate", "--rate-range", "0.5", "0.1"), 3),
        (("--null", "common_rate", "--rate-range", "0.5", "2"), 3),
        (("--coding", "allelic", "--tau", "0.5"), 3),
        (("--coding", "allelic", "--top", "2", "--scores-epsilon", "0.5", "--tau", "0.5"), 3),
    ],
)
def test_p_values_that_cannot_be_had_are_refused_before_anything_is_paid(
    cohort, run, account, extra, code
):
    assert run("associate", "scan", cohort, "--epsilon", 1, *extra).exit_code == code
    assert spent(account) == 0
