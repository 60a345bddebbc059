"""VCF to PLINK: the public list decides what is there."""

import gzip

import numpy as np
import pytest

from noren.data.bed import open_bed
from noren.data.sites import Sites
from noren.errors import FileProblem, MissingExtra, SchemaError

pytest.importorskip("cyvcf2", reason="the extra [genomics] is not installed")

from noren.data.vcf import convert_vcf, places_of, stored

HEAD = """##fileformat=VCFv4.2
##contig=<ID=1>
##contig=<ID=X>
##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">
#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tann\tbob\tcid\tdot\teve
"""
RECORDS = """1\t100\tx\tA\tG\t.\t.\t.\tGT\t0/0\t0/1\t1|1\t./.\t0/.
1\t200\t.\tC\tT,G\t.\t.\t.\tGT\t0/1\t0/2\t1/2\t2/2\t1/1
1\t250\t.\tC\tT\t.\t.\t.\tGT\t1/1\t1/1\t1/1\t1/1\t1/1
1\t300\t.\tG\tC\t.\t.\t.\tGT\t1/1\t1/1\t1/1\t1/1\t1/1
X\t50\t.\tT\tA\t.\t.\t.\tGT\t1\t0\t0/1\t.\t1/1
"""
LIST = """snp\tchrom\tpos\tcounted\tother\tref
absent\t1\t50\tA\tG\tG
first\t1\t100\tG\tA\tA
second\t1\t200\tG\tC\tC
turned\t1\t200\tC\tT\tC
mismatch\t1\t300\tA\tG\tG
sex\tX\t50\tA\tT\tT
gone\tX\t60\tC\tT\tC
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a.vcf").write_text(HEAD + RECORDS)
    (tmp_path / "sites.tsv").write_text(LIST)
    return tmp_path


def copies_of_first(path):
    bed = open_bed(path)
    raw = np.frombuffer(bed.path.read_bytes()[3:], np.uint8).reshape(len(bed.sites), -1)
    pairs = ((raw[:, :, None] >> np.array([0, 2, 4, 6], np.uint8)) & 3).reshape(len(bed.sites), -1)
    return np.array([2, -1, 1, 0])[pairs[:, : len(bed.people)]].tolist()


def test_listed_variants_are_written_whether_the_file_holds_them_or_not(files):
    bed = convert_vcf(files / "a.vcf", files / "sites.tsv", files / "out")
    assert [key[1] for key in bed.people.ids] == ["ann", "bob", "cid", "dot", "eve"]
    assert set(bed.people.phenotypes) == {"-9"}
    assert bed.sites.names == ("absent", "first", "second", "turned", "mismatch", "sex", "gone")
    assert copies_of_first(files / "out") == [
        [0, 0, 0, 0, 0],  # nobody carries it, so the file does not list it
        [0, 1, 2, -1, -1],
        [0, 1, 1, 2, 0],  # the second of two alternates
        [1, 2, 1, 2, 0],  # the reference is counted: two copies less those of T
        [0, 0, 0, 0, 0],  # another alternate at this place is another variant
        [2, 0, 1, -1, 2],  # one allele alone counts as two copies
        [2, 2, 2, 2, 2],  # absent, and the reference is counted
    ]


def test_one_person_changes_their_own_column_only(files):
    convert_vcf(files / "a.vcf", files / "sites.tsv", files / "with")
    others = [line.split("\t") for line in RECORDS.splitlines()]
    for fields in others:  # ann becomes the reference everywhere; a record nobody needs is dropped
        fields[9] = "0/0"
    kept = [fields for fields in others if any("1" in call or "2" in call for call in fields[9:])]
    (files / "b.vcf").write_text(HEAD + "".join("\t".join(fields) + "\n" for fields in kept))
    convert_vcf(files / "b.vcf", files / "sites.tsv", files / "without")
    before, after = (np.array(copies_of_first(files / name)) for name in ("with", "without"))
    assert (before[:, 1:] == after[:, 1:]).all()


def test_compressed_and_binary_files_are_read_too(files):
    from cyvcf2 import VCF, Writer

    convert_vcf(files / "a.vcf", files / "sites.tsv", files / "plain")
    for name, mode in (("a.vcf.gz", "wz"), ("a.bcf", "wb")):
        source = VCF(str(files / "a.vcf"))
        writer = Writer(str(files / name), source, mode)
        for record in source:
            writer.write_record(record)
        writer.close()
        convert_vcf(files / name, Sites.read(files / "sites.tsv"), files / "other")
        assert copies_of_first(files / "other") == copies_of_first(files / "plain")


def test_lists_and_files_that_do_not_fit_are_refused(files, capfd):
    listed = Sites.read(files / "sites.tsv")
    with pytest.raises(SchemaError, match="chromosome name in common"):
        convert_vcf(files / "a.vcf", Sites(("x",), ("chr1",), (5,), ("A",), ("C",)), files / "o")
    with pytest.raises(SchemaError, match="lacks positions"):
        convert_vcf(files / "a.vcf", Sites(("x",), ("1",), (), ("A",), ("C",)), files / "o")
    with pytest.raises(SchemaError, match="place and alleles"):
        places_of(Sites(("x", "y"), ("1",) * 2, (5, 5), ("A",) * 2, ("C",) * 2))
    with pytest.raises(SchemaError, match="two different alleles"):
        places_of(Sites(("x",), ("1",), (5,), ("A",), ("C",), ("T",)))
    lines = RECORDS.splitlines()
    (files / "b.vcf").write_text(HEAD + lines[0] + "\n" + lines[0] + "\n")
    with pytest.raises(FileProblem, match="two records"):
        convert_vcf(files / "b.vcf", listed, files / "o")
    (files / "c.vcf").write_text(HEAD.replace("bob", "ann") + RECORDS)
    with pytest.raises(FileProblem) as caught:
        convert_vcf(files / "c.vcf", listed, files / "o")
    assert "'ann'" not in str(caught.value)
    (files / "d.vcf").write_text("no genotypes at all\n")
    with pytest.raises(FileProblem, match="cannot be read"):
        convert_vcf(files / "d.vcf", listed, files / "o")
    with pytest.raises(FileProblem, match="does not exist"):
        convert_vcf(files / "e.vcf", listed, files / "o")
    (files / "f.vcf").write_text(HEAD + lines[0].replace("0/1", "0/zebra") + "\n")
    with pytest.raises(FileProblem, match="read to its end"):
        convert_vcf(files / "f.vcf", listed, files / "o")
    assert capfd.readouterr() == ("", "")  # its library would print what it could not read


def test_a_record_on_a_chromosome_that_the_header_lacks_is_refused_before_it_is_parsed(files):
    broken = "7\t5\t.\tA\tG\t.\t.\t.\tGT\t0/0\t0/{}\t1|1\t./.\t0/.\n"  # cyvcf2 0.34 dies of it
    for name, text in (("g.vcf", broken.encode()), ("g.vcf.gz", gzip.compress(broken.encode()))):
        head = gzip.compress(HEAD.encode()) if name.endswith("gz") else HEAD.encode()
        (files / name).write_bytes(head + text)
        with pytest.raises(FileProblem, match="does not list") as caught:
            convert_vcf(files / name, files / "sites.tsv", files / "o")
        assert "7" not in str(caught.value).replace(str(files), "")


def test_a_header_that_is_no_text_is_refused(files):
    (files / "h.vcf").write_bytes(HEAD.encode().replace(b"bob", b"b\xffb") + RECORDS.encode())
    with pytest.raises(FileProblem, match="header of"):
        convert_vcf(files / "h.vcf", files / "sites.tsv", files / "o")


def test_a_file_that_breaks_off_leaves_no_files_that_look_whole(files):
    convert_vcf(files / "a.vcf", files / "sites.tsv", files / "old")
    before = {path.name: path.read_bytes() for path in files.glob("old.*")}
    (files / "i.vcf").write_text(HEAD + RECORDS.replace("1/2", "1/zebra"))
    for stem in ("old", "new"):
        with pytest.raises(FileProblem, match="read to its end"):
            convert_vcf(files / "i.vcf", files / "sites.tsv", files / stem)
    assert {path.name: path.read_bytes() for path in files.glob("old.*")} == before
    assert len(before) == 3
    assert list(files.glob("new*")) == []


def test_without_the_extra_it_says_what_to_install(files, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "cyvcf2", None)
    with pytest.raises(MissingExtra, match=r"\[genomics\]"):
        convert_vcf(files / "a.vcf", files / "sites.tsv", files / "out")


def test_calls_become_stored_pairs():
    calls = np.array([[0, 0], [0, 1], [1, 1], [-1, 1], [1, -2], [-2, -2], [2, 1]])
    assert stored(calls, 1, True).tolist() == [3, 2, 0, 1, 0, 1, 2]
    assert stored(calls, 1, False).tolist() == [0, 2, 3, 1, 3, 1, 2]
