"""From a VCF and a table of phenotypes to a paid scan, on the command line."""

from __future__ import annotations

import pytest

from noren import Guarantee
from noren.association.scoring import SAME_STATUS
from noren.ledger import Ledger
from noren.noise.public import generator

pytest.importorskip("cyvcf2", reason="the extra [genomics] is not installed")

HEAD = (
    '##fileformat=VCFv4.2\n##contig=<ID=1>\n##FORMAT=<ID=GT,Number=1,Type=String,Description="G">\n'
)
CALLS = ("0/0", "0/1", "1/1")
PEOPLE, VARIANTS, STRONG = 200, 12, 5


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Twelve variants, one of which all cases carry and no control."""
    monkeypatch.chdir(tmp_path)
    draw = generator(3)
    ids = [f"p{i}" for i in range(PEOPLE)]
    titles = ["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", *ids]
    lines, listed = ["\t".join(titles)], ["snp\tchrom\tpos\tcounted\tother\tref"]
    for v in range(VARIANTS):
        copies = draw.integers(0, 3, PEOPLE)
        if v == STRONG:
            copies = [2 if i % 2 else 0 for i in range(PEOPLE)]
        calls = [CALLS[int(c)] for c in copies]
        lines.append("\t".join(["1", str(100 + v), ".", "A", "G", ".", ".", ".", "GT", *calls]))
        listed.append(f"rs{v}\t1\t{100 + v}\tG\tA\tA")
    (tmp_path / "a.vcf").write_text(HEAD + "\n".join(lines) + "\n")
    (tmp_path / "sites.tsv").write_text("\n".join([*listed, "rsgone\t1\t900\tG\tA\tA"]) + "\n")
    return tmp_path


def test_a_vcf_is_converted_once_and_scanned(folder, result_of):
    made = result_of("associate", "convert", "a.vcf", "--sites", "sites.tsv", "--out", "made")
    assert made["result"]["variants"] == VARIANTS + 1
    lines = [line.split() for line in (folder / "made.fam").read_text().splitlines()]
    assert len(lines) == PEOPLE
    status = [f"{words[0]} {words[1]} {1 + i % 2}" for i, words in enumerate(lines)]
    (folder / "status.txt").write_text("FID IID disease\n" + "\n".join(status) + "\n")
    with Ledger.open("ledger.sqlite") as ledger:
        ledger.create_account("study", Guarantee(SAME_STATUS, epsilon=20))
    found = result_of(
        "associate", "scan", "made", "--pheno", "status.txt", "--pheno-column", "disease",
        "--epsilon", 20, "--ledger", "ledger.sqlite", "--account", "study",
    )["result"]  # fmt: skip
    rows = {row["snp"]: row for row in found["rows"]}
    assert rows[f"rs{STRONG}"]["associated"]
    assert rows["rsgone"]["p"] > 1e-6
    assert found["settings"]["design"] == {"cases": 100, "controls": 100, "step": 1}
