"""Kill a client again and again at random moments; say what it sent. Standard library only.

python -I client_under_fire.py CLIENT.PY FOLDER KILLS SEED     (JSON on standard output)
"""

import importlib.util
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

SLOT = 0.02


def alone(path):
    """Load client.py as a file of its own."""
    spec = importlib.util.spec_from_file_location("client", path)
    client = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(client)
    assert "noren" not in sys.modules
    return client


def report_for_ever(module, folder, settings, log):
    """Report a bit that is another one at every reading, with retries; only a kill ends it."""
    client = module.Client(folder / "state.json", **settings)
    client.begin(json.loads((folder / "ticket.json").read_text()))
    while True:
        for _ in range(1 + (random.random() < 0.3)):  # not acknowledged: send again
            message = client.report(lambda: random.getrandbits(1))
            if message is not None and '"y":null' not in message:
                os.write(log, f"\n{message}\n".encode())  # a torn line stands by itself


def main():
    module = alone(sys.argv[1])
    folder, kills = Path(sys.argv[2]), int(sys.argv[3])
    random.seed(int(sys.argv[4]))
    horizon, k = 1_000_000, 10 * kills + 100
    plan = {"task": "t", "strategy": "independent", "horizon": horizon, "reports": k,
            "epsilon": k, "weights": [1 << 65, 1 << 64], "origin": time.time() + 0.3,
            "slot_seconds": SLOT}  # fmt: skip
    slots = sorted(random.sample(range(1, 2 * k), k))
    (folder / "ticket.json").write_text(json.dumps({"task": "t", "epoch": 0, "slots": slots}))
    settings = {"plan": plan, "device": "d", "key": b"k", "lifetime_epsilon": k}
    module.Client(folder / "state.json", **settings)  # the file is older than the epoch
    time.sleep(0.32)
    log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for _ in range(kills):
        child = os.fork()
        if child == 0:
            random.seed()
            try:
                report_for_ever(module, folder, settings, log)
            finally:
                os._exit(3)
        time.sleep(random.random() * 0.06)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WTERMSIG(status) == signal.SIGKILL, status
    state = json.loads((folder / "state.json").read_text())
    lines = (folder / "log").read_text().splitlines()
    sent = [line for line in lines if line.rstrip().endswith("}")]  # a kill may tear a line in two
    print(json.dumps({"slots": slots, "sent": sent, "charges": state["charges"],
                      "state": state["tasks"].get("t", {}).get("sent", {})}))  # fmt: skip


if __name__ == "__main__":
    main()
