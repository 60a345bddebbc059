"""Bit sources: nobody's words are anybody else's."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.errors import DrawRefused, NotPrivateWarning, ParameterError
from noren.noise import Noise, sources
from noren.noise.sources import (
    BUFFER_WORDS,
    BitSource,
    ChaChaSource,
    SeededTestSource,
    ShakeSource,
    SystemSource,
    TapeSource,
)
from noren.testing import seeded_noise

SECURE = [ChaChaSource, SystemSource, ShakeSource]

FORKING = """
import os, sys
import numpy as np
from noren.noise import sources
from noren.noise.sources import {source}
{patch}
source = {source}()
source.words(10)  # the parent's buffer is full when it forks
read, write = os.pipe()
if os.fork() == 0:
    os.write(write, source.words(500).tobytes())
    os._exit(0)
ours = source.words(500)
os.close(write)
theirs = np.frombuffer(os.read(read, 4000), np.uint64)
os.wait()
assert theirs.size == 500
print(np.intersect1d(ours, theirs).size)
"""


@pytest.mark.parametrize("source", SECURE)
def test_a_secure_source_gives_fresh_uniform_words(source):
    given = source()
    sizes = [0, 1, 5, BUFFER_WORDS // 4, BUFFER_WORDS // 4 + 1, 3 * BUFFER_WORDS, 70_001]
    words = np.concatenate([given.words(n) for n in sizes])
    assert words.dtype == np.uint64
    assert words.size == sum(sizes)
    assert np.unique(words).size == words.size
    ones = int(np.bitwise_count(words).sum())
    deviation = (ones - 32 * words.size) / np.sqrt(16 * words.size)
    assert abs(deviation) < 7  # chance 3e-12
    assert given.secure
    assert isinstance(given, BitSource)


@pytest.mark.parametrize("source", SECURE)
def test_two_sources_of_one_kind_share_no_word(source):
    assert np.intersect1d(source().words(5000), source().words(5000)).size == 0


@pytest.mark.parametrize("source", [ChaChaSource, ShakeSource])
@pytest.mark.parametrize("patch", ["", "sources.os.getpid = lambda: 1  # the hook alone must do"])
def test_a_forked_child_forgets_the_parents_words(source, patch):
    script = FORKING.format(source=source.__name__, patch=patch)
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.stdout.strip() == "0", run.stderr


def test_without_the_fork_hook_the_process_number_still_tells(monkeypatch):
    source = ChaChaSource()
    source.words(3)
    before = source._local.stream
    monkeypatch.setattr(sources.os, "getpid", lambda: -1)
    source.words(3)
    assert source._local.stream is not before


@pytest.mark.parametrize("source", SECURE)
def test_threads_of_one_source_share_no_word(source):
    shared = source()
    drawn: list[np.ndarray] = []
    streams = []

    def draw():
        drawn.append(np.concatenate([shared.words(7) for _ in range(300)]))
        streams.append(shared._local.stream)

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    together = np.concatenate(drawn)
    assert len({id(stream) for stream in streams}) == 4
    assert together.size == 4 * 2100
    assert np.unique(together).size == together.size


def test_chacha_takes_a_new_key_before_its_counter_could_wrap(monkeypatch):
    ciphers = []
    real = sources.Cipher

    def recorded(algorithm, mode):
        ciphers.append((algorithm.key, algorithm.nonce))
        return real(algorithm, mode=mode)

    monkeypatch.setattr(sources, "REKEY_BYTES", 1 << 19)
    monkeypatch.setattr(sources, "Cipher", recorded)
    words = ChaChaSource().words(1 << 18)  # 2 MiB: four keys
    keys, nonces = zip(*ciphers, strict=True)
    assert len(set(keys)) == len(set(nonces)) == len(ciphers) == 4
    assert all(len(key) == 32 for key in keys)
    assert all(nonce[:4] == bytes(4) and len(nonce) == 16 for nonce in nonces)
    assert np.unique(words).size == words.size


def test_chacha_gives_the_published_key_stream(monkeypatch):
    """RFC 8439, appendix A.1, test vector 1: all-zero key and nonce, counter 0."""
    monkeypatch.setattr(sources.os, "urandom", bytes)
    first = ChaChaSource().words(8).tobytes()
    assert first.hex().startswith(
        "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
    )


def test_the_system_is_asked_for_whole_buffers(monkeypatch):
    asked = []
    real = sources.os.urandom
    monkeypatch.setattr(sources.os, "urandom", lambda n: asked.append(n) or real(n))
    source = SystemSource()
    for _ in range(100):
        source.words(3)
    assert asked == [1 << 16]


@pytest.mark.parametrize(
    "holder", [*(source() for source in SECURE), Noise()], ids=lambda holder: type(holder).__name__
)
def test_nothing_that_holds_a_key_can_be_pickled(holder):
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(holder)


def test_a_copy_is_the_same_noise_and_draws_on():
    noise = seeded_noise(3)
    assert copy.copy(noise) is noise
    assert copy.deepcopy([noise])[0] is noise


@given(seed=st.integers(0, 2**40), cuts=st.lists(st.integers(0, 3000), max_size=5))
def test_a_seed_repeats_its_stream_however_it_is_asked(seed, cuts):
    one, two = SeededTestSource(seed), SeededTestSource(seed)
    assert all(np.array_equal(one.words(n), two.words(n)) for n in cuts)
    assert not np.array_equal(SeededTestSource(seed + 1).words(4), SeededTestSource(seed).words(4))


@pytest.mark.filterwarnings("default::noren.errors.NotPrivateWarning")
@pytest.mark.parametrize("make", [lambda: seeded_noise(1), lambda: TapeSource([1])])
def test_predictable_noise_warns_and_is_not_secure(make):
    with pytest.warns(NotPrivateWarning, match="nothing drawn"):
        made = make()
    assert not made.secure


def test_seeded_noise_says_what_it_is():
    assert "NOT PRIVATE" in repr(seeded_noise(1))
    assert "NOT PRIVATE" not in repr(Noise())
    assert Noise().name == "chacha20"


def test_a_tape_gives_its_words_and_then_refuses():
    source = TapeSource([5, 2**64 - 1])
    assert source.words(2).tolist() == [5, 2**64 - 1]
    with pytest.raises(DrawRefused, match="tape has ended"):
        source.words(1)


@pytest.mark.parametrize("given", [7, "seed", np.random.default_rng(1)])
def test_noise_takes_a_bit_source_and_no_seed(given):
    with pytest.raises(ParameterError, match="BitSource"):
        Noise(given)
