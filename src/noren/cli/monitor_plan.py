"""`noren monitor plan` and `noren monitor simulate`: before anybody is asked."""

from __future__ import annotations

import json
import warnings
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from noren.cli.output import Output, table, with_output
from noren.errors import FileProblem, ParameterError

if TYPE_CHECKING:
    from noren.monitoring.plans import MonitoringPlan
    from noren.monitoring.simulation import Simulated

STRATEGIES = ("published", "independent", "ramp", "block", "rolling", "tree")
FILE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.option("--people", "n_people", type=int, required=True, help="How many people take part.")
@click.option("--horizon", type=int, required=True, help="How many slots an epoch has.")
@click.option("--epsilon", required=True, help="What an epoch may cost one person.")
@click.option("--threshold", required=True, help="The share at which a slot is up, in (0, 1).")
@click.option(
    "--slot-epsilon",
    default="published",
    show_default=True,
    help="What a change in one slot may cost; 'published': what the published scheme charges; "
    "'none': as much as the epoch, which is best for trajectories alone.",
)
@click.option(
    "--strategy", type=click.Choice(STRATEGIES), help="Use this one; chosen for you if left out."
)
@click.option("--reports", type=int, help="Reports a person makes; the best number if left out.")
@click.option("--max-changes", type=int, help="How often a person's bit may change in an epoch.")
@click.option("--rolling", type=int, metavar="W", help="Protect every window of W slots.")
@click.option("--worst-case", is_flag=True, help="Choose for a share of 1/2.")
@click.option("--dummy", "r", default="0", help="Chance of a 1 in the published scheme's dummies.")
@click.option(
    "--rule", type=click.Choice(["plain", "confident"]), default="plain", show_default=True,
    help="Plain: up or down. Confident: undecided where a wrong word is likelier than alpha.",
)  # fmt: skip
@click.option("--alpha", default="0.05", show_default=True, help="The chance of a wrong word.")
@click.option("--power", default="0.8", show_default=True, help="The chance to notice a margin.")
@click.option("--all-slots", is_flag=True, help="Let alpha hold for all slots together.")
@click.option("--sd", help="Also say how many people make the standard deviation this small.")
@click.option("--margin", help="Also say how many people make a share so far above it noticed.")
@click.option(
    "--shuffled-delta", metavar="DELTA",
    help="Also say what epsilon is left, at this delta, to who sees shuffled reports only.",
)  # fmt: skip
@click.option("--task", default="monitoring", show_default=True, help="The public name of this.")
@click.option(
    "--origin", default="0", help="When epoch 0 begins: seconds since 1970, or 2026-01-31T00:00Z."
)
@click.option("--slot-seconds", type=float, default=3600, show_default=True, help="Its length.")
@click.option("--grace-seconds", type=float, default=0, help="How long reports may come late.")
@click.option("--out", type=FILE, help="Write the plan, for devices and the collector, to a file.")
@with_output
def plan(output: Output, **settings: Any) -> None:
    """Choose how to monitor, and say what to expect; nothing is asked and nothing is spent."""
    from noren.monitoring.planning import plan as choose
    from noren.monitoring.plans import Timetable

    asked = {name: settings.pop(name) for name in ("sd", "margin", "shuffled_delta")}
    out = settings.pop("out")
    slot = settings.pop("slot_epsilon")
    timetable = Timetable(
        origin=moment(settings.pop("origin")),
        slot_seconds=seconds("slot-seconds", settings.pop("slot_seconds"), least=1e-3),
        grace_seconds=seconds("grace-seconds", settings.pop("grace_seconds"), least=0),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said below, with the plan's other notes
        made = choose(
            **settings, slot_epsilon=None if slot == "none" else slot, timetable=timetable
        )
    if out is not None:
        out.write_text(json.dumps(made.to_dict(), indent=1) + "\n", encoding="utf-8")
    show_plan(output, made, asked, out)


def show_plan(
    output: Output, made: MonitoringPlan, asked: dict[str, str | None], out: Path | None
) -> None:
    """Print a plan, what was compared, and its notes."""
    rows = [
        (it.name, it.reports, it.law.contrast, it.slot_epsilon_text, it.sd_at_threshold,
         it.sd_at_half) for it in made.candidates
    ]  # fmt: skip
    columns = ("strategy", "reports", "contrast", "slot epsilon", "sd at threshold", "sd at 1/2")
    answers, told = also(made, **asked)
    result = {
        "plan": made.to_dict(),
        "forecast": made.forecast().to_dict(),
        "slot_guarantee": made.slot_guarantee.to_dict(),
        **answers,
        "candidates": [dict(zip(columns, row, strict=True)) for row in rows],
        "file": None if out is None else str(out),
    }
    people: list[Any] = [table("Compared", columns, rows), "", f"Chosen: {made}"]
    people += told
    people += [f"! {note}" for note in made.notes]
    people += [f"The plan is {out}"] if out else []
    output.show("monitoring-plan", result, guarantee=made.guarantee, people=people)


def also(
    made: MonitoringPlan, sd: str | None, margin: str | None, shuffled_delta: str | None
) -> tuple[dict[str, Any], list[str]]:
    """Answer what else was asked of a plan."""
    from noren.errors import NotPrivate
    from noren.monitoring.shuffling import shuffled_plan

    answers: dict[str, Any] = {"people_needed": None, "people_for_margin": None, "shuffled": None}
    told = []
    if sd is not None:
        answers["people_needed"] = made.people_for(sd)
        told.append(f"For a standard deviation of {sd}: {answers['people_needed']} people")
    if margin is not None:
        answers["people_for_margin"] = made.people_for_margin(margin)
        told.append(f"To notice {margin} above it: {answers['people_for_margin']} people")
    if shuffled_delta is not None:
        try:
            answers["shuffled"] = shuffled_plan(made, shuffled_delta)
            told.append(
                f"Shuffled: epsilon {answers['shuffled']:.4g} at delta {shuffled_delta} to who "
                "sees counts alone, if names and times of arrival are removed before anything is "
                f"stored and all {made.n_people} people are honest"
            )
        except NotPrivate as refusal:
            told.append(f"Shuffled: {refusal}")
    return answers, told


@click.command()
@click.option("--plan", "plan_file", type=FILE, required=True, help="A plan's file.")
@click.option("--shares", type=FILE, help="True shares, one a line; a wave is made up if left out.")
@click.option("--runs", type=int, default=1, show_default=True, help="How many times.")
@click.option("--seed", type=click.IntRange(min=0), default=1, help="Public: another, other runs.")
@click.option("--exact", is_flag=True, help="Simulate every person; slower, slots depend rightly.")
@click.option("--chart", type=FILE, help="Draw the first run: .svg or .png.")
@with_output
def simulate(
    output: Output, plan_file: Path, shares: Path | None, runs: int, seed: int, exact: bool,
    chart: Path | None,
) -> None:  # fmt: skip
    """Simulate a plan on made-up people; no private data takes part."""
    from noren.monitoring.decisions import displayed
    from noren.monitoring.simulation import simulate as run
    from noren.monitoring.simulation import wave

    made = read_plan(plan_file)
    truth = wave(made) if shares is None else read_shares(shares)
    found = run(made, truth, seed=seed, runs=runs, exact=exact)
    decisions = first_run(found)
    if chart is not None:
        from noren.monitoring.charts import over_time
        from noren.page import save_chart

        save_chart(over_time(decisions, made.horizon), chart)
        output.remark(f"The chart is {chart}")
    f_mean = float(found.f_measure().mean())
    result = {"simulated": True, "runs": runs, "rmse": found.rmse(), "f_measure": f_mean,
              "expected_sd": made.sd, "first_run": decisions}  # fmt: skip
    columns = ("slot", "true", "share", "low", "high", "verdict")
    shown = [it | {"true": truth[it["slot"] - 1], "share": displayed(it["share"])}
             for it in decisions]  # fmt: skip
    rows = [[it[name] for name in columns] for it in shown]
    people = [table("First run (simulated)", columns, rows), "",
              f"Over {runs} runs: RMSE {found.rmse():.4g}, F-measure {f_mean:.4g}"]  # fmt: skip
    output.show("monitoring-simulation", result, guarantee=None, people=people)


def first_run(found: Simulated) -> list[dict[str, Any]]:
    """Read the counts of the first run as a collector would."""
    from noren.monitoring.sealing import decide_all
    from noren.monitoring.statistic import SlotCounts

    counts = SlotCounts(found.reports[0][:, None], found.ones[0][:, None])
    return decide_all([found.plan], counts)


def read_plan(path: Path) -> MonitoringPlan:
    """Read a plan's file."""
    from noren.monitoring.plans import MonitoringPlan

    return MonitoringPlan.from_dict(read_json(path))


def read_json(path: Path) -> Any:
    """Read a JSON file."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FileProblem(
            f"{path} cannot be read as JSON ({type(error).__name__}). Check the path."
        ) from None


def read_shares(path: Path) -> list[float]:
    """Read made-up shares, one a line."""
    try:
        return [float(line) for line in path.read_text(encoding="utf-8").split()]
    except (OSError, ValueError) as error:
        raise FileProblem(
            f"{path} cannot be read as one share a line ({type(error).__name__}). Check the file."
        ) from None


def moment(text: str) -> float:
    """Read a moment: seconds since 1970, or a date and time (UTC unless it says otherwise)."""
    try:
        return float(text)
    except ValueError:
        pass
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ParameterError("origin", text, "seconds since 1970, or 2026-01-31T00:00Z") from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def seconds(name: str, value: float, least: float) -> float:
    """Read a length of time."""
    if not least <= value < 1e12:
        raise ParameterError(name, value, f"a finite number of seconds, at least {least:g}")
    return value
