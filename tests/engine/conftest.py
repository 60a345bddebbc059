"""A cluster of two workers on this machine, once for all tests of the room."""

import sys
import warnings
from pathlib import Path

import pytest

from noren.engine.dask import DaskEngine

ROOT = str(Path(__file__).parents[2])


@pytest.fixture(scope="session")
def cluster():
    from distributed import LocalCluster

    if ROOT not in sys.path:
        sys.path.append(ROOT)  # workers inherit it, and find the functions of these tests
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as started:
            yield started


@pytest.fixture
def engine(cluster) -> DaskEngine:
    return DaskEngine(cluster.scheduler_address)
