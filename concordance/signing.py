"""Sign a manifest and check its signature: an in-toto statement in a DSSE envelope, Ed25519, by securesystemslib.

A signature file is named by the digest of the manifest that it signs, so that it can be written before the manifest
takes effect. What a signature proves is who released, not that the answers are right. Needs the extra
`concordance-key[sign]`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from concordance.errors import JsonError, UnusableInputError
from concordance.keys import INSTALL, read_private_key, read_public_key
from concordance.numbers import canonical_json, parse_json, sha256_hex

PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE: Final = "urn:concordance:release:v1"


def signature_name(manifest: bytes) -> str:
    """The path inside `vectors/` of the signature of a manifest."""
    return f"signatures/{sha256_hex(manifest)}.dsse.json"


def sign_manifest(manifest: bytes, release: dict[str, Any], key: Path) -> bytes:
    """A DSSE envelope over a statement that names the manifest's digest and the release it was made for.

    Raises `UnusableInputError` if the file is no unencrypted Ed25519 private key in PEM.
    """
    dsse, signers = _library()
    statement = {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": "vectors/manifest.json", "digest": {"sha256": sha256_hex(manifest)}}],
        "predicateType": PREDICATE_TYPE,
        "predicate": release,
    }
    envelope = dsse.Envelope(canonical_json(statement), PAYLOAD_TYPE, {})
    envelope.sign(signers.CryptoSigner(read_private_key(key)))
    return json.dumps(envelope.to_dict(), indent=2).encode("ascii") + b"\n"


def signature_fault(manifest: bytes, envelope: bytes | None, public_key: Path) -> str | None:
    """Why a manifest is not signed with this key, or None if it is.

    Raises `UnusableInputError` if the file is no Ed25519 public key in PEM.
    """
    dsse, signers = _library()
    from securesystemslib.exceptions import UnverifiedSignatureError, VerificationError

    key = signers.SSlibKey.from_crypto(read_public_key(public_key))
    if envelope is None:
        return "is not signed"
    try:
        signed = dsse.Envelope.from_dict(parse_json(envelope))
        signed.verify([key], 1)
        statement = json.loads(signed.payload)
        digests = [subject["digest"]["sha256"] for subject in statement["subject"]]
    except (VerificationError, UnverifiedSignatureError):
        return "is not signed with this key"
    except (JsonError, ValueError, KeyError, TypeError, AttributeError):
        return "has a signature file that is no DSSE envelope of a statement"
    if signed.payload_type != PAYLOAD_TYPE or digests != [sha256_hex(manifest)]:
        return "is not what the signature is about"
    return None


def _library() -> tuple[Any, Any]:
    try:
        import cryptography  # noqa: F401
        from securesystemslib import dsse, signer
    except ImportError:
        raise UnusableInputError("signing needs the extra packages", hint=INSTALL) from None
    return dsse, signer
