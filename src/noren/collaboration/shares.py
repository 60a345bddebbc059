"""A share: one private model with its manifest and signature, as an organization sends it.

Three texts. `model.json` holds the released numbers, `manifest.json` who made them, on which
schema, by which mechanism with every parameter its claim is a function of, and the claim;
`SIGNATURE` is ed25519 over both. All is canonical JSON (sorted keys, no spaces, ASCII), numbers
are decimal strings of 17 digits that are read back bit for bit. There is no pickle and no code:
reading a share executes nothing and trusts nothing. `verify_share` decides whether to use it.

The release's name is the SHA-256 of `model.json`: one release sent to many is one price.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from noren.collaboration.model import PrivateModel
from noren.collaboration.parameters import LONGEST
from noren.collaboration.signing import fingerprint, public_key_of, sign
from noren.errors import SchemaError, ShareRefused
from noren.privacy.numbers import ENDLESS

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

FORMAT = 1
NUMBERS = ("coefficients", "sums")
MANIFEST = {
    "format", "organization", "public_key", "fingerprint", "release", "task", "task_sha256",
    "mechanism", "parameters", "claim", "marks", "seeded", "noren", "created", "receipt",
    "model_format",
}  # fmt: skip
CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True)


@dataclass(frozen=True, kw_only=True)
class Share:
    """What one organization sends: the texts as they came, unverified until `verify_share`.

    Attributes
    ----------
    model_text, manifest_text : bytes
        The two canonical JSON texts.
    signature : str
        In hexadecimal.
    source : str
        Where it came from (a file's name), for messages.
    """

    model_text: bytes
    manifest_text: bytes
    signature: str
    source: str = "share"

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The manifest, its fields complete."""
        found = strict_json(self.manifest_text, f"{self.source}: manifest.json")
        if not isinstance(found, dict) or set(found) != MANIFEST or found["format"] != str(FORMAT):
            raise ShareRefused(
                "not a share", self.source,
                f"its manifest does not have exactly the fields of format {FORMAT}. Ask the sender "
                "to write it again with 'noren collaborate train'.",
            )  # fmt: skip
        return found

    @cached_property
    def model(self) -> PrivateModel:
        """The model, as stated: its claim is not checked here."""
        numbers, manifest = (
            strict_json(self.model_text, f"{self.source}: model.json"),
            self.manifest,
        )
        if not isinstance(numbers, dict) or set(numbers) != set(NUMBERS):
            raise ShareRefused(
                "not a share",
                self.source,
                "its model.json holds something else. Ask the sender to send it again.",
            )
        check_short(self.source, manifest["parameters"], manifest["claim"])
        stated = {
            "format": whole_text(manifest["model_format"]),
            "task": manifest["task"],
            "mechanism": manifest["mechanism"],
            "parameters": manifest["parameters"],
            "marks": manifest["marks"],
            "seeded": manifest["seeded"],
            "guarantee": manifest["claim"],
            "receipt": manifest["receipt"],
        }
        try:
            return PrivateModel.from_dict(stated | numbers)
        except SchemaError as error:
            raise ShareRefused("bad content", self.source, str(error)) from None
        except (TypeError, ValueError, KeyError, AttributeError, OverflowError) as error:
            raise ShareRefused(
                "bad numbers", self.source,
                f"a number or a field in it cannot be used ({type(error).__name__}). "
                "Ask the sender for a new file.",
            ) from None  # fmt: skip

    @property
    def organization(self) -> str:
        """Who says to have made it."""
        return str(self.manifest["organization"])

    @property
    def release(self) -> str:
        """The name of the released numbers: the SHA-256 of model.json."""
        return hashlib.sha256(self.model_text).hexdigest()

    @property
    def created(self) -> datetime:
        """When it was written."""
        try:
            return datetime.strptime(self.manifest["created"], "%Y-%m-%dT%H:%M:%SZ")
        except (TypeError, ValueError):
            raise ShareRefused(
                "bad content", self.source, "its date is none. Ask the sender for a new file."
            ) from None

    @property
    def coefficients(self) -> Any:
        """The model's coefficients."""
        return self.model.coefficients

    def __repr__(self) -> str:
        return f"Share({self.source}, release {self.release[:12]})"


def make_share(
    model: PrivateModel, organization: str, key: Ed25519PrivateKey, created: datetime | None = None
) -> Share:
    """Sign a model as this organization's share.

    Parameters
    ----------
    model
        What a training question released (`answer.model`).
    organization
        The name under which the consortium lists this organization.
    key
        Its private key (`read_key`).
    created
        When; now unless given. Where two releases of one organization meet, the newest counts.
    """
    written, public = model.to_dict(), public_key_of(key)
    model_text = canonical({name: written[name] for name in NUMBERS})
    when = datetime.now(UTC) if created is None else created
    manifest = {
        "format": str(FORMAT),
        "model_format": str(written["format"]),
        "organization": read_organization(organization),
        "public_key": public,
        "fingerprint": fingerprint(public),
        "release": hashlib.sha256(model_text).hexdigest(),
        "task": written["task"],
        "task_sha256": model.task.identity,
        "mechanism": written["mechanism"],
        "parameters": written["parameters"],
        "claim": written["guarantee"],
        "marks": written["marks"],
        "seeded": written["seeded"],
        "noren": version("noren"),
        "created": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "receipt": written["receipt"],
    }
    text = canonical(manifest)
    signature = sign(key, model_text, text)
    return Share(model_text=model_text, manifest_text=text, signature=signature)


def read_organization(given: str) -> str:
    """Take a short printable name."""
    name = str(given)
    if not 0 < len(name) <= 100 or not name.isprintable() or name != name.strip():
        raise SchemaError(
            "An organization's name must be 1 to 100 printable characters. Choose another one."
        )
    return name


def canonical(value: Any) -> bytes:
    """Write canonical JSON."""
    return CANONICAL.encode(value).encode("ascii")


def strict_json(text: bytes, source: str) -> Any:
    """Read canonical JSON: the one way to write it is the only one that is read."""
    try:
        found = json.loads(text.decode("ascii"))
        is_canonical = canonical(found) == text
    except (ValueError, RecursionError):
        is_canonical = False
    if not is_canonical:
        raise ShareRefused(
            "not a share", source,
            "it is not canonical JSON, as Noren writes it. A file that was edited or converted on "
            "its way no longer is: ask the sender to send it again, as a zip.",
        )  # fmt: skip
    return found


def check_short(source: str, *tables: Any) -> None:
    """Refuse words that would be read as numbers of astronomical length.

    The candidates of a tuned model are a table of tables, and each of their numbers is such a word.
    """
    words = [
        (name, str(word))
        for one in tables
        for name, word in (one if isinstance(one, dict) else {}).items()
    ]
    if any(
        ENDLESS.search(word) or (len(word) > LONGEST and name != "candidates")
        for name, word in words
    ):
        raise ShareRefused(
            "bad numbers",
            source,
            "a number in its manifest is absurdly long. Ask the sender for a new file.",
        )


def whole_text(given: Any) -> int:
    """Read a small whole number that is written as a word."""
    return int(given) if isinstance(given, str) and given.isdigit() and len(given) < 6 else -1
