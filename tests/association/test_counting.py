"""Counting from PLINK files: every coding against plain genotypes, and every broken file."""

import numpy as np
import pytest

from noren.association import counting
from noren.association.counting import Counter, Stretch, count_tables, shifted_masks
from noren.data import bed as bed_module
from noren.data.bed import VariantRange, open_bed, read_bim, write_bim
from noren.data.people import groups, read_fam
from noren.data.sites import Sites
from noren.errors import FileProblem, NotPrivate, ParameterError, SchemaError

MISSING = -1
PAIR_OF = {2: 0, 1: 2, 0: 3, MISSING: 1}  # copies of the first allele -> what is stored


def write_plink(folder, copies, status, name="cohort"):
    """Write genotypes (variants x people, copies of A1) as PLINK does."""
    variants, people = copies.shape
    pairs = np.vectorize(PAIR_OF.get)(copies).astype(np.uint8)
    padded = np.zeros((variants, -(-people // 4) * 4), np.uint8)
    padded[:, :people] = pairs
    quads = padded.reshape(variants, -1, 4)
    packed = quads[:, :, 0] | quads[:, :, 1] << 2 | quads[:, :, 2] << 4 | quads[:, :, 3] << 6
    (folder / f"{name}.bed").write_bytes(b"\x6c\x1b\x01" + packed.tobytes())
    (folder / f"{name}.fam").write_text(
        "".join(f"f{i} p{i} 0 0 0 {status[i]}\n" for i in range(people))
    )
    write_bim(
        folder / f"{name}.bim",
        Sites(
            tuple(f"rs{j}" for j in range(variants)), ("1",) * variants,
            tuple(range(100, 100 + variants)), ("A",) * variants, ("G",) * variants,
        ),
    )  # fmt: skip
    return folder / name


def random_cohort(people, variants, seed):
    rng = np.random.default_rng(seed)
    rate = rng.uniform(0.02, 0.98, (variants, 1))
    copies = (rng.uniform(size=(variants, people)) < rate).astype(int)
    copies += rng.uniform(size=(variants, people)) < rate
    copies[rng.uniform(size=copies.shape) < 0.07] = MISSING
    status = rng.choice(["1", "2", "-9"], people, p=[0.5, 0.4, 0.1])
    status[:2] = ["1", "2"]
    return copies, status


def expected(copies, status, coding, allele):
    ours = np.where(copies == MISSING, MISSING, copies if allele == "A1" else 2 - copies)
    counted = {
        "carrier": ours >= 1,
        "dominant": ours >= 1,
        "recessive": ours == 2,
        "heterozygous": ours == 1,
        "allelic": np.where(ours == MISSING, 0, ours),
    }[coding]
    return counted[:, status == "2"].sum(axis=1), counted[:, status == "1"].sum(axis=1)


@pytest.fixture(params=[0, 1 << 40], ids=["compiled", "NumPy"])
def both_ways(request, monkeypatch):
    monkeypatch.setattr(counting, "FEW_BYTES", request.param)


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize("people", [3, 4, 31, 33, 130, 517])
def test_every_coding_counts_what_plain_genotypes_say(people, tmp_path, monkeypatch):
    monkeypatch.setattr(bed_module, "BLOCK_BYTES", 5 * -(-people // 4))  # rows begin anywhere
    copies, status = random_cohort(people, 23, seed=people)
    path = write_plink(tmp_path, copies, status)
    for coding in ("carrier", "dominant", "recessive", "heterozygous", "allelic"):
        for allele in ("A1", "A2"):
            tables = count_tables(path, coding=coding, counted=allele)
            a, b = expected(copies, status, coding, allele)
            assert tables.a.tolist() == a.tolist()
            assert tables.b.tolist() == b.tolist()
            step = 2 if coding == "allelic" else 1
            assert tables.step == step
            assert tables.cases == step * (status == "2").sum()
            assert tables.controls == step * (status == "1").sum()
            assert tables.sites.counted == (("A" if allele == "A1" else "G"),) * 23


@pytest.mark.usefixtures("both_ways")
def test_pieces_and_threads_change_nothing(tmp_path, monkeypatch):
    copies, status = random_cohort(77, 60, seed=5)
    path = write_plink(tmp_path, copies, status)
    whole = count_tables(path)
    monkeypatch.setattr(counting, "PIECE_BYTES", 7 * 20)
    seen = []
    pieces = count_tables(path, workers=2, progress=lambda done, total: seen.append((done, total)))
    assert (pieces.a == whole.a).all()
    assert (pieces.b == whole.b).all()
    assert pieces.sites == whole.sites
    assert seen[0] == (0, 60)
    assert seen[-1] == (60, 60)
    assert len(seen) == 10
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


@pytest.mark.usefixtures("both_ways")
def test_a_list_of_variants_reads_only_what_it_needs(tmp_path, monkeypatch):
    copies, status = random_cohort(50, 400, seed=8)
    path = write_plink(tmp_path, copies, status)
    names = ["rs399", "rs3", "rs200", "rs201"]
    tables = count_tables(path, variants=names)
    a, _ = expected(copies, status, "carrier", "A1")
    assert tables.sites.names == ("rs3", "rs200", "rs201", "rs399")
    assert tables.a.tolist() == a[[3, 200, 201, 399]].tolist()
    wanted = np.zeros(400, bool)
    wanted[[3, 200, 201, 399]] = True
    pieces = counting.ranges(open_bed(path), wanted)
    assert [(piece.start, piece.stop) for piece in pieces] == [(3, 4), (200, 202), (399, 400)]
    for wrong, error in (
        (["rs3", "rs3"], SchemaError),
        (["rs3", "x"], SchemaError),
        ([], ParameterError),
    ):
        with pytest.raises(error):
            count_tables(path, variants=wrong)


def test_a_manifest_says_which_variants_and_which_allele(tmp_path):
    copies, status = random_cohort(50, 5, seed=9)
    path = write_plink(tmp_path, copies, status)
    manifest = tmp_path / "manifest.tsv"
    manifest.write_text("snp\tallele\nrs4\tG\nrs1\tA\nrs2\tG\n")
    tables = count_tables(path, counted=manifest)
    first, second = (expected(copies, status, "carrier", allele)[0] for allele in ("A1", "A2"))
    assert tables.sites.names == ("rs1", "rs2", "rs4")
    assert tables.a.tolist() == [first[1], second[2], second[4]]
    assert tables.sites.counted == ("A", "G", "G")
    for text in ("snp\tallele\nrs4\tT\n", "snp\tallele\nrs77\tA\n", "snp\nrs4\n"):
        manifest.write_text(text)
        with pytest.raises(SchemaError):
            count_tables(path, counted=manifest)


def test_an_allele_that_nobody_has_is_resolved_by_the_other(tmp_path):
    copies, status = np.zeros((2, 8), int), np.array(["1", "2"] * 4)
    path = write_plink(tmp_path, copies, status)
    (tmp_path / "cohort.bim").write_text("1 rs0 0 100 0 G\n1 rs1 0 101 0 G\n")
    manifest = Sites(("rs0", "rs1"), counted=("A", "G"))
    tables = count_tables(path, counted=manifest)
    assert tables.a.tolist() == [0, 4]


def test_a_phenotype_file_takes_the_place_of_the_fam(tmp_path):
    copies, status = random_cohort(40, 6, seed=3)
    path = write_plink(tmp_path, copies, np.full(40, "-9"))
    with pytest.raises(FileProblem, match="case"):
        count_tables(path)
    pheno = tmp_path / "pheno.txt"
    lines = [f"f{i}\tp{i}\t7\t{status[i]}" for i in range(40) if status[i] != "-9"]
    pheno.write_text("FID\tIID\tage\tdisease\n" + "\n".join(reversed(lines)) + "\n")
    for column in (2, "disease"):
        tables = count_tables(path, phenotype_file=pheno, column=column)
        assert tables.a.tolist() == expected(copies, status, "carrier", "A1")[0].tolist()
    with pytest.raises(FileProblem, match="neither a case"):
        count_tables(path, phenotype_file=pheno, column="age")
    with pytest.raises(ParameterError, match="column"):
        count_tables(path, phenotype_file=pheno, column="height")
    with pytest.raises(FileProblem, match="column"):
        count_tables(path, phenotype_file=pheno, column=3)
    pheno.write_text("#IID\tdisease\n" + "\n".join(f"p{i}\t{status[i]}" for i in range(40)) + "\n")
    tables = count_tables(path, phenotype_file=pheno)
    assert tables.b.tolist() == expected(copies, status, "carrier", "A1")[1].tolist()


def test_codes_of_nought_and_one(tmp_path):
    copies, status = random_cohort(40, 6, seed=4)
    coded = np.array([{"1": "0", "2": "1", "-9": "-9"}[word] for word in status])
    path = write_plink(tmp_path, copies, coded)
    tables = count_tables(path, codes="0/1")
    assert tables.a.tolist() == expected(copies, status, "carrier", "A1")[0].tolist()
    with pytest.raises(FileProblem, match="case"):
        count_tables(path)  # read as 1/2, nobody is a case
    with pytest.raises(ParameterError, match="codes"):
        count_tables(path, codes="2/1")


def test_only_people_who_are_kept_are_counted(tmp_path):
    copies, status = random_cohort(40, 6, seed=6)
    path = write_plink(tmp_path, copies, status)
    keep = tmp_path / "keep.txt"
    keep.write_text("FID IID\n" + "\n".join(f"f{i} p{i}" for i in range(0, 30)) + "\nx y\n")
    tables = count_tables(path, keep=keep)
    kept = np.where(np.arange(40) < 30, status, "-9")
    assert tables.a.tolist() == expected(copies, kept, "carrier", "A1")[0].tolist()
    assert tables.cases == (kept == "2").sum()
    keep.write_text("nobody\n")
    with pytest.raises(FileProblem, match="two words"):
        count_tables(path, keep=keep)


@pytest.fixture
def cohort(tmp_path):
    copies, status = random_cohort(21, 9, seed=1)
    return write_plink(tmp_path, copies, status)


def test_a_truncated_bed_is_refused(cohort):
    file = cohort.with_name("cohort.bed")
    whole = file.read_bytes()
    for broken in (whole[:-1], whole + b"\0", whole[:30], whole[:2], b""):
        file.write_bytes(broken)
        with pytest.raises(FileProblem, match=r"cohort\.bed"):
            count_tables(cohort)


def test_a_fam_of_other_people_is_refused(cohort):
    fam = cohort.with_name("cohort.fam")
    lines = fam.read_text().splitlines()
    fam.write_text("\n".join(lines[:-6]) + "\n")
    with pytest.raises(FileProblem, match="belong together"):
        count_tables(cohort)
    fam.write_text("\n".join([*lines[:-1], lines[0]]) + "\n")
    with pytest.raises(FileProblem, match="more than once") as caught:
        count_tables(cohort)
    assert "p0" not in str(caught.value)
    fam.write_text("\n".join(["f p 0 0 2", *lines[1:]]) + "\n")
    with pytest.raises(FileProblem, match="six words"):
        count_tables(cohort)
    fam.unlink()
    with pytest.raises(FileProblem, match="cannot be read"):
        count_tables(cohort)


def test_a_bed_ordered_by_people_or_of_another_kind_is_refused(cohort):
    file = cohort.with_name("cohort.bed")
    whole = file.read_bytes()
    file.write_bytes(b"\x6c\x1b\x00" + whole[3:])
    with pytest.raises(FileProblem, match="sample-major"):
        count_tables(cohort)
    file.write_bytes(b"\x6c\x1c\x01" + whole[3:])
    with pytest.raises(FileProblem, match="6c 1b 01"):
        count_tables(cohort)


def test_a_repeated_variant_is_refused(cohort):
    bim = cohort.with_name("cohort.bim")
    bim.write_text(bim.read_text().replace("rs4", "rs3"))
    with pytest.raises(SchemaError, match="'rs3' is listed twice"):
        count_tables(cohort)
    bim.write_text("1 rs0 0\n")
    with pytest.raises(FileProblem, match="two alleles"):
        count_tables(cohort)


def test_missing_phenotypes_and_empty_groups_are_refused(cohort):
    fam = cohort.with_name("cohort.fam")
    lines = [line.rsplit(" ", 1)[0] for line in fam.read_text().splitlines()]
    for codes, who in ((["1"], "case"), (["2"], "control"), (["-9"], "case"), (["0"], "case")):
        fam.write_text("".join(f"{line} {codes[0]}\n" for line in lines))
        with pytest.raises(FileProblem, match=f"at least one {who}"):
            count_tables(cohort)
    fam.write_text("".join(f"{line} {1.5 + i}\n" for i, line in enumerate(lines)))
    with pytest.raises(FileProblem, match="neither a case") as caught:
        count_tables(cohort)
    assert "3.5" not in str(caught.value)


def test_an_unknown_coding_is_refused(cohort):
    with pytest.raises(ParameterError, match="coding"):
        count_tables(cohort, coding="haplotype")


def test_a_test_without_a_proof_is_refused_before_anything_is_read(cohort):
    with pytest.raises(NotPrivate, match="trend test cannot be asked privately"):
        count_tables(cohort, coding="additive")


def test_a_file_that_shrinks_while_it_is_read_is_refused(cohort):
    bed = open_bed(cohort)
    piece = VariantRange(str(bed.path), bed.row_bytes, 0, 9)
    bed.path.write_bytes(bed.path.read_bytes()[:-3])
    with pytest.raises(FileProblem, match="shorter"):
        list(piece.read())


def test_what_is_secret_is_not_shown(cohort):
    bed = open_bed(cohort)
    marked = groups(bed.people)
    assert repr(bed.people) == "People(21)"
    assert "21 people" in repr(marked)
    stretch = Stretch(np.arange(3), np.array([[7, 7, 7], [8, 8, 8]]))
    assert "7" not in repr(stretch)
    assert "cases" in repr(count_tables(cohort))


def test_masks_mark_each_group_wherever_a_row_begins():
    rng = np.random.default_rng(2)
    cases, controls = rng.uniform(size=(2, 77)) < 0.5
    masks = shifted_masks(cases, controls)
    assert masks.shape[2] % 32 == 0
    for group, members in enumerate((cases, controls)):
        for shift in range(8):
            bits = np.unpackbits(masks[group, shift].view(np.uint8), bitorder="little")
            pairs = bits.reshape(-1, 2)
            assert not pairs[:, 1].any()
            begin = 4 * shift
            assert (pairs[begin : begin + 77, 0] == members).all()
            assert pairs[:, 0].sum() == members.sum()


def test_lists_are_read_back_as_they_were_written(tmp_path):
    sites = Sites(("a", "b"), ("1", "X"), (5, 9), ("A", "T"), ("C", "G"))
    write_bim(tmp_path / "x.bim", sites)
    assert read_bim(tmp_path / "x.bim") == sites
    table = tmp_path / "sites.csv"
    table.write_text("chrom,pos,snp,counted,other\n1,5,a,A,C\nX,9,b,T,G\n")
    assert Sites.read(table) == sites
    table.write_text("chrom pos\n1 5\n")
    with pytest.raises(FileProblem, match="column snp"):
        Sites.read(table)
    table.write_text("snp pos\na five\n")
    with pytest.raises(FileProblem, match="whole numbers"):
        Sites.read(table)
    table.write_text("snp pos\na 5 7\n")
    with pytest.raises(FileProblem, match="more or fewer"):
        Sites.read(table)
    table.write_text("")
    with pytest.raises(FileProblem, match="empty"):
        Sites.read(table)
    with pytest.raises(FileProblem, match="cannot be read"):
        Sites.read(tmp_path / "nothing.csv")
    (tmp_path / "y.fam").write_text("\n")
    with pytest.raises(FileProblem, match="empty"):
        read_fam(tmp_path / "y.fam")


def test_a_counter_can_be_sent_to_a_worker(cohort):
    import pickle

    bed = open_bed(cohort)
    counter = Counter.of("carrier", groups(bed.people), np.ones(9, bool))
    piece = VariantRange(str(bed.path), bed.row_bytes, 0, 9)
    sent, where = pickle.loads(pickle.dumps((counter, piece)))
    assert (sent(where.read()).counts == counter(piece.read()).counts).all()
