"""Maps of loci: windows, named lists, intervals, and what is wrong with a map."""

from __future__ import annotations

import numpy as np
import pytest

from noren.association import Loci
from noren.data.sites import Sites
from noren.errors import FileProblem, ParameterError

SITES = Sites(
    ("rs1", "rs2", "rs3", "rs4"), chromosomes=("1", "1", "1", "X"), positions=(10, 950, 1000, 10)
)


def labels(loci: Loci) -> list[str]:
    return [loci.names[place] for place in loci.of]


def written(path, text: str):
    path.write_text(text)
    return path


def test_windows_begin_at_the_first_base_of_each_chromosome():
    assert labels(Loci.windows(SITES, 500)) == ["1:1-500", "1:501-1000", "1:501-1000", "X:1-500"]


def test_a_list_of_names_leaves_the_rest_alone(tmp_path):
    path = written(tmp_path / "map", "snp\tlocus\nrs2\tgene A\nrs1\tgene A\nrs9\tgene B\n")
    assert labels(Loci.read(path, SITES)) == ["gene A", "gene A", "rs3", "rs4"]


def test_intervals_hold_both_their_ends(tmp_path):
    path = written(
        tmp_path / "map", "chr,start,stop,block\nchr1,950,1000,B\nchr1,1,100,A\nX,20,30,C\n"
    )
    assert labels(Loci.read(path, SITES)) == ["A", "B", "B", "rs4"]


def test_intervals_without_names_are_named_by_their_place(tmp_path):
    path = written(tmp_path / "map", "chromosome start end\n1 1 1000\n")
    assert labels(Loci.read(path, SITES)) == ["1:1-1000"] * 3 + ["rs4"]


def test_a_locus_scores_as_its_best_variant():
    loci = Loci.named(["x", "y", "x", "y"])
    assert loci.best(np.array([1, -5, 7, -9])).tolist() == [7, -5]
    assert loci.sizes.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("snp\tplace\nrs1\t3\n", "needs snp and locus"),
        ("chromosome start end\n1 1 100\n1 100 200\n", "overlaps"),
        ("chromosome start end\n1 100 1\n", "empty or overlaps"),
        ("chromosome start end\n1 one 100\n", "not a whole number"),
        ("snp locus\nrs1\n", "more or fewer columns"),
        ("", "is empty"),
    ],
)
def test_a_map_that_cannot_be_read_is_refused_in_words(tmp_path, text, said):
    with pytest.raises(FileProblem, match=said):
        Loci.read(written(tmp_path / "map", text), SITES)


def test_a_variant_of_two_loci_is_refused(tmp_path):
    path = written(tmp_path / "map.csv", "snp,locus\nrs1,A\nrs1,B\n")
    with pytest.raises(FileProblem, match="names a variant twice"):
        Loci.read(path, SITES)


def test_places_are_needed_for_windows_and_intervals(tmp_path):
    bare = Sites(("rs1",))
    with pytest.raises(ParameterError, match="without positions"):
        Loci.windows(bare, 500)
    with pytest.raises(ParameterError, match="without positions"):
        Loci.read(written(tmp_path / "map", "chromosome start end\n1 1 5\n"), bare)


@pytest.mark.parametrize("of", [[0, 2], [0.0, 1.0], [[0, 1]], [-1, 0]])
def test_what_is_no_map_is_refused(of):
    with pytest.raises(ParameterError, match="of is"):
        Loci(("a", "b"), np.array(of))


def test_the_digest_tells_maps_apart():
    one, two = Loci.named(["x", "x", "y"]), Loci.named(["x", "y", "y"])
    assert one.public_form() != two.public_form()
    assert one.public_form() == Loci.named(["x", "x", "y"]).public_form()
