"""Keys and signatures: who sent a file, and that nobody changed it since. Nothing more.

Maths
    Ed25519 over the bytes "noren share 1" + newline + SHA-256(model.json) + SHA-256(manifest.json).

A signature says who, not that noise was added: a member who trained without noise can sign that
too. What a receiver can check, the claim against the stated mechanism, is checked elsewhere
(`noren.collaboration.verifying`); that the stated mechanism was run is trusted.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from noren.errors import FileProblem, SchemaError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

DOMAIN = b"noren share 1\n"
SIGNATURE_SAYS = (
    "A valid signature proves who signed a file and that it was not changed since. It does not "
    "prove that noise was added, that the stated mechanism was run, or that the rows were real."
)


def keygen(path: str | Path) -> str:
    """Make a key pair: the private key in `path` (yours alone), the public one given back.

    The public key, 64 hexadecimal digits, goes to the other members by a way they trust.
    """
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    text = key.private_bytes(
        form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption()
    )  # fmt: skip
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise FileProblem(
            f"{path} exists already, and a key is never written over: the files it signed could "
            "not be followed by new ones. Choose another name."
        ) from None
    with os.fdopen(handle, "wb") as file:
        file.write(text)
    return public_key_of(key)


def read_key(path: str | Path) -> Ed25519PrivateKey:
    """Read a private key; an error quotes nothing of it."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(Path(path).read_bytes(), password=None)
    except Exception:  # cryptography fails in many ways, and a key is never quoted
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise FileProblem(
            f"{path} is not a private key that Noren made. 'noren collaborate keygen' makes one."
        )
    return key


def public_key_of(key: Ed25519PrivateKey) -> str:
    """Give the public key of a private one, in hexadecimal."""
    return key.public_key().public_bytes_raw().hex()


def fingerprint(public_key: str) -> str:
    """Name a public key by the SHA-256 of its bytes, to be compared over the telephone."""
    return hashlib.sha256(read_public_key(public_key)).hexdigest()


def read_public_key(text: str) -> bytes:
    """Read 64 hexadecimal digits."""
    try:
        found = bytes.fromhex(text)
    except (TypeError, ValueError):
        found = b""
    if len(found) != 32:
        raise SchemaError("A public key must be 64 hexadecimal digits. Copy it whole from keygen.")
    return found


def signed_bytes(model: bytes, manifest: bytes) -> bytes:
    """Give what is signed."""
    return DOMAIN + hashlib.sha256(model).digest() + hashlib.sha256(manifest).digest()


def sign(key: Ed25519PrivateKey, model: bytes, manifest: bytes) -> str:
    """Sign the two texts of a share."""
    return key.sign(signed_bytes(model, manifest)).hex()


def is_signed(public_key: str, signature: str, model: bytes, manifest: bytes) -> bool:
    """Say whether the holder of a key signed these two texts."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        given = bytes.fromhex(signature)
        Ed25519PublicKey.from_public_bytes(read_public_key(public_key)).verify(
            given, signed_bytes(model, manifest)
        )
    except (InvalidSignature, ValueError):
        return False
    return True
