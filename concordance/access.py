"""API keys: a small file of hashes. A key is shown once, when it is made, and cannot be had from the file.

Keys have 256 random bits, so a plain SHA-256 of one cannot be searched. Not for passwords, and not for signing.
"""

from __future__ import annotations

import hmac
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from concordance.errors import UnusableInputError
from concordance.numbers import sha256_hex

if TYPE_CHECKING:
    from filelock import BaseFileLock

PREFIX: Final = "ck_"


class ApiKey(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is kept of a key: its name, when it was made, its hash, and when it was revoked."""

    id: str
    name: str
    created: str
    sha256: str
    revoked: str = ""


class KeyFile:
    """The file at a path. Changes are seen at once by whoever has it open, a running server too."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int] | None = None
        self._keys: tuple[ApiKey, ...] = ()

    def keys(self) -> tuple[ApiKey, ...]:
        """All keys, revoked ones too, oldest first; none if there is no file. Raises `UnusableInputError`."""
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return ()
        if self._seen != (status.st_mtime_ns, status.st_ino):
            try:
                self._keys = msgspec.json.decode(self._path.read_bytes(), type=tuple[ApiKey, ...])
            except (msgspec.DecodeError, OSError) as error:
                raise UnusableInputError(f"is no file of keys: {error}", where=str(self._path)) from None
            self._seen = status.st_mtime_ns, status.st_ino
        return self._keys

    def create(self, name: str, now: str) -> tuple[ApiKey, str]:
        """A new key: what is kept of it, and the key itself, which is never to be had again."""
        secret = PREFIX + secrets.token_urlsafe(32)
        key = ApiKey(secrets.token_hex(4), name, now, sha256_hex(secret.encode()))
        with self._lock():
            self._write((*self.keys(), key))
        return key, secret

    def revoke(self, identifier: str, now: str) -> ApiKey:
        """Revoke a key by its id. Raises `UnusableInputError` if there is none, or it was revoked before."""
        with self._lock():
            found = [key for key in self.keys() if key.id == identifier]
            if not found:
                known = ", ".join(key.id for key in self.keys()) or "none yet"
                raise UnusableInputError(f"no key {identifier}", where=str(self._path), hint=f"there are: {known}")
            if found[0].revoked:
                raise UnusableInputError(f"key {identifier} was revoked {found[0].revoked}", where=str(self._path))
            revoked = msgspec.structs.replace(found[0], revoked=now)
            self._write(tuple(revoked if key.id == identifier else key for key in self.keys()))
        return revoked

    def accepts(self, secret: str) -> bool:
        """Whether this is a key that was made here and not revoked, in a time that does not tell how near it is."""
        digest = sha256_hex(secret.encode("utf-8", "surrogateescape"))
        matches = [hmac.compare_digest(digest, key.sha256) for key in self.keys() if not key.revoked]
        return any(matches)

    def _lock(self) -> BaseFileLock:
        from filelock import FileLock

        return FileLock(f"{self._path}.lock")

    def _write(self, keys: tuple[ApiKey, ...]) -> None:
        from concordance.atomic import replace_file

        try:
            replace_file(self._path, msgspec.json.format(msgspec.json.encode(keys), indent=1) + b"\n")
            self._path.chmod(0o600)
        except OSError as error:
            raise UnusableInputError(error.strerror or "cannot be written", where=str(self._path)) from None
