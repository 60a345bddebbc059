"""What importing the room costs."""

from __future__ import annotations

import subprocess
import sys


def test_importing_loads_neither_numpy_nor_scipy():
    code = (
        "import sys, noren.privacy as p; p.pure_to_zcdp(1); p.zcdp_epsilon(1, '1e-6');"
        "print([m for m in ('numpy', 'scipy', 'pandas', 'numba') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
