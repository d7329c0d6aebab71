"""Ed25519 keys in PEM files: make one, read one.

What is signed with a key is the business of the modules that sign: `signing` a release's manifest, `exam.ledger` a
row. Keys with a passphrase, certificates and other algorithms are not read. Needs the extra `concordance-key[sign]`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from concordance.errors import UnusableInputError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

    PrivateKey: TypeAlias = Ed25519PrivateKey
    PublicKey: TypeAlias = Ed25519PublicKey

INSTALL: Final = "pip install 'concordance-key[sign]'"
_MAKE: Final = "make one with: openssl genpkey -algorithm ed25519 -out key.pem"
_PUBLISH: Final = "make one with: openssl pkey -in key.pem -pubout -out public.pem"
_LARGEST: Final = 1 << 16  # bytes; a PEM file of an Ed25519 key has some 120


def new_key(path: Path) -> PrivateKey:
    """A new private key, written to a file that only its owner may read and that did not exist before."""
    serialization, ed25519 = _library()
    key: PrivateKey = ed25519.Ed25519PrivateKey.generate()
    unencrypted = serialization.NoEncryption()
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, unencrypted)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise UnusableInputError("exists already", where=str(path), hint="a key file is never overwritten") from None
    except OSError as error:
        raise UnusableInputError(error.strerror or "cannot be written", where=str(path)) from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(pem)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        path.unlink(missing_ok=True)
        raise UnusableInputError(error.strerror or "cannot be written", where=str(path)) from None
    return key


def read_private_key(path: Path) -> PrivateKey:
    """Raises `UnusableInputError` if the file is no unencrypted Ed25519 private key in PEM."""
    serialization, ed25519 = _library()
    key = _loaded(path, lambda pem: serialization.load_pem_private_key(pem, None))
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise UnusableInputError("is no unencrypted Ed25519 private key in PEM", where=str(path), hint=_MAKE)
    return key  # type: ignore[no-any-return]


def read_public_key(path: Path) -> PublicKey:
    """Raises `UnusableInputError` if the file is no Ed25519 public key in PEM."""
    serialization, ed25519 = _library()
    key = _loaded(path, serialization.load_pem_public_key)
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise UnusableInputError("is no Ed25519 public key in PEM", where=str(path), hint=_PUBLISH)
    return key  # type: ignore[no-any-return]


def public_pem(key: PublicKey) -> bytes:
    """A public key as the PEM text that `read_public_key` reads."""
    serialization, _ = _library()
    pem: bytes = key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return pem


def public_hex(key: PublicKey) -> str:
    """A public key as its 32 bytes in hexadecimal."""
    return key.public_bytes_raw().hex()


def is_signature(key: str, signature: bytes, message: bytes) -> bool:
    """Whether the holder of the public key, given in hexadecimal, signed the message."""
    _, ed25519 = _library()
    from cryptography.exceptions import InvalidSignature

    try:
        ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def _loaded(path: Path, load: Any) -> object:
    """The key in a file, of whatever algorithm, or None if there is none."""
    from cryptography.exceptions import UnsupportedAlgorithm

    try:
        with path.open("rb") as file:
            key: object = load(file.read(_LARGEST))
    except OSError as error:
        raise UnusableInputError(error.strerror or "cannot be read", where=str(path)) from None
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return None
    return key


def _library() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise UnusableInputError("signing needs the extra packages", hint=INSTALL) from None
    return serialization, ed25519
