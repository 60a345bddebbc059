"""How a scan is shown: a short table for people, whole tables in files, pictures in a page."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from noren.cli.options import require_folder
from noren.cli.output import Output, answer_lines, json_text, plain
from noren.cli.output import table as table_of
from noren.errors import ParameterError

SHOWN = 20
FILES = (".csv", ".json", ".parquet")
USUAL_NULL, USUAL_CORRECTION = "permutation", "holm"


def output_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say where a result goes, and hand them over as `shown`."""

    def run(
        *args: Any,
        out: Path | None,
        report: Path | None,
        null: str,
        rate_range: tuple[str, str] | None,
        correction: str,
        **settings: Any,
    ) -> None:
        if out is not None and out.suffix.lower() not in FILES:
            raise ParameterError("--out", out, f"a name that ends in one of {', '.join(FILES)}")
        require_folder("--out", out)
        require_folder("--report", report)
        if rate_range is not None and null != "common_rate":
            raise click.UsageError("--rate-range belongs to --null common_rate.")
        shown = {"out": out, "report": report, "null": null, "correction": correction}
        function(*args, shown=shown | {"rate_range": rate_range}, **settings)

    command: Callable[..., None] = functools.wraps(function)(run)
    for add in (
        click.option(
            "--correction",
            type=click.Choice(["holm", "bonferroni", "benjamini-yekutieli"]),
            default=USUAL_CORRECTION,
            help="How p-values are corrected for all tests; holm unless given. Free.",
        ),
        click.option(
            "--null",
            type=click.Choice(["permutation", "common_rate"]),
            default=USUAL_NULL,
            help="What p-values assume; permutation (least) unless given. Free.",
        ),
        click.option(
            "--rate-range",
            nargs=2,
            metavar="LOW HIGH",
            help="With --null common_rate: rates of carriers between these (public). Free.",
        ),
        click.option(
            "--report",
            type=click.Path(path_type=Path, dir_okay=False),
            help="Write answer, table and pictures as one HTML file, too.",
        ),
        click.option(
            "--out",
            type=click.Path(path_type=Path, dir_okay=False),
            help="Write the whole table to a file: .csv, .json or .parquet.",
        ),
    ):
        command = add(command)
    return command


def check_reading(question: Any, shown: dict[str, Any]) -> None:
    """Refuse, before anything is paid, a way to read p-values that cannot be, or is not, used."""
    from noren.association.modes import require_null
    from noren.association.pvalue import read_null

    if shown["rate_range"] is not None:
        read_null(shown["null"], shown["rate_range"])
    paid_scores = getattr(question, "scores_epsilon", None) is not None and question.design.nulls
    valid = getattr(question, "alpha", None) is not None
    if valid or paid_scores:
        require_null(shown["null"], question.design)
    elif shown["null"] != USUAL_NULL:
        raise click.UsageError("--null belongs to p-values, but this scan has none.")
    if shown["correction"] != USUAL_CORRECTION and not valid:
        raise click.UsageError("--correction belongs to p-values of all variants: --mode valid.")


def show_scan(output: Output, answer: Any, shown: dict[str, Any]) -> None:
    """Show an answer; write what was asked for."""
    columns = columns_of(answer, shown)
    made = answer.to_dict()
    result = {key: made[key] for key in made if key not in ("kind", "guarantee", "value")}
    names = list(columns)
    result["headline"] = headline_of(columns, answer, shown)
    result["reading"] = reading_of(columns, answer, shown)
    result["rows"] = [dict(zip(names, row, strict=True)) for row in rows_of(columns)]
    people = [*answer_lines(answer, result["headline"]), "", *short_table(columns)]
    output.show(answer.question.kind, result, guarantee=answer.guarantee, people=people)
    if shown.get("out") is not None:
        write_table(shown["out"], columns, answer, shown)
        output.remark(f"The whole table is {shown['out']}")
    if shown.get("report") is not None:
        write_report(shown["report"], columns, answer, shown)
        output.remark(f"The report is {shown['report']}")


def headline_of(columns: dict[str, Any], answer: Any, shown: dict[str, Any]) -> str:
    """Say what was found, p-values read as the options say."""
    return str(answer.said(**way_of(shown)) if "associated" in columns else answer.headline)


def way_of(shown: dict[str, Any]) -> dict[str, Any]:
    """Give the options that say how p-values are read."""
    return {key: shown[key] for key in ("null", "rate_range", "correction") if key in shown}


def columns_of(answer: Any, shown: dict[str, Any]) -> dict[str, Any]:
    """Give the result table, p-values as the options say."""
    settings = answer.question.settings
    if answer.question.kind == "distance-scores" and settings["mode"] == "valid":
        return dict(answer.columns(**way_of(shown)))
    if answer.question.kind == "top-snps" and "null" in shown:
        return dict(answer.columns(shown["null"], shown["rate_range"]))
    return dict(answer.columns())


def reading_of(columns: dict[str, Any], answer: Any, shown: dict[str, Any]) -> dict[str, Any]:
    """Say under which assumptions p-values were computed: free, but part of what is claimed."""
    if "p" not in columns:
        return {}
    given = {"null": shown.get("null", "permutation")}
    if shown.get("rate_range"):
        given["rate_range"] = [float(rate) for rate in shown["rate_range"]]
    if answer.question.kind == "distance-scores":
        given["correction"] = shown.get("correction", "holm")
    return given


def rows_of(columns: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Turn columns into rows of plain values."""
    lists = [plain(values) for values in columns.values()]
    return list(zip(*lists, strict=True))


def short_table(columns: dict[str, Any]) -> list[Any]:
    """Show the most interesting rows: chosen as they come, else the strongest first."""
    import numpy as np

    count = len(columns["snp"] if "snp" in columns else columns["locus"])
    order = np.arange(count)
    if "rank" not in columns and "p" in columns:
        order = np.lexsort((-np.asarray(columns["score"]), np.asarray(columns["p"])))
    elif "rank" not in columns and "score" in columns:
        order = np.argsort(-np.asarray(columns["score"]), kind="stable")
    elif "significant" in columns:
        order = np.argsort(~np.asarray(columns["significant"]), kind="stable")
    kept = order[:SHOWN]
    lists = [plain([values[place] for place in kept]) for values in columns.values()]
    lists = [[value.item() if hasattr(value, "item") else value for value in own] for own in lists]
    heads = [name.replace("_", " ") for name in columns]
    rest = [] if count <= SHOWN else [f"... and {count - SHOWN} more; --out FILE writes them all."]
    return [table_of("", heads, zip(*lists, strict=True)), *rest]


def write_table(path: Path, columns: dict[str, Any], answer: Any, shown: dict[str, Any]) -> None:
    """Write all rows, and with them the price: inside the file, or beside a CSV."""
    import pyarrow as pa

    made = answer.to_dict()
    about = {key: made[key] for key in made if key not in ("kind", "guarantee", "value")}
    about["reading"] = reading_of(columns, answer, shown)
    text = json_text(answer.question.kind, about, answer.guarantee)
    if path.suffix.lower() == ".json":
        whole = json.loads(text)
        whole["result"]["columns"] = plain(columns)
        path.write_text(json.dumps(whole, indent=1), encoding="utf-8")
        return
    arrays = {name: pa.array(list(values)) for name, values in columns.items()}
    rows = pa.table(arrays).replace_schema_metadata({"noren": text})
    if path.suffix.lower() == ".parquet":
        import pyarrow.parquet as parquet

        parquet.write_table(rows, path)
        return
    from pyarrow import csv

    csv.write_csv(rows, path)
    path.with_name(path.name + ".about.json").write_text(text, encoding="utf-8")


def write_report(path: Path, columns: dict[str, Any], answer: Any, shown: dict[str, Any]) -> None:
    """Write a page: the answer with its picture, quantiles where there are p-values, the table."""
    from noren.association.charts import manhattan, qq
    from noren.page import Answered, Chart, Page, Part, Table

    has_p = "associated" in columns
    said, asked = headline_of(columns, answer, shown), "Which variants go with the disease?"
    parts: list[Part] = [Answered(answer, asked=asked, picture=not has_p, said=said)]
    if has_p:
        parts.append(Chart(manhattan(answer, columns), said, is_private=answer.secure))
        caption = (
            "Observed against expected p-values. Guaranteed p-values lie low where noise rules."
        )
        parts.append(
            Chart(qq(answer, shown["null"], shown["rate_range"]), caption, is_private=answer.secure)
        )
    rows = rows_of(columns)
    key = next((name for name in ("p", "score") if name in columns), None)
    if key is not None and "rank" not in columns:
        place, falling = list(columns).index(key), key == "score"
        rows = sorted(rows, key=lambda row: row[place], reverse=falling)
    caption = f"The first {min(len(rows), 10 * SHOWN)} of {len(rows)}"
    parts.append(
        Table(list(columns), rows[: 10 * SHOWN], caption=caption, is_private=answer.secure)
    )
    lead = "A private association scan. The price of everything on this page is stated below."
    Page(title="Association scan", lead=lead, parts=parts).write(path)
