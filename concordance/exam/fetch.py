"""Read a file by its path or its http(s) address, with limits on size, time and redirects.

It knows nothing of what it reads: whoever asks checks the content, by digest where there is one. The HTTP client is
httpx2, needed for addresses only; it honours the usual proxy settings.
"""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final, NamedTuple

from concordance.errors import UnusableInputError

if TYPE_CHECKING:
    import httpx2


class Limits(NamedTuple):
    """What a source may cost at most. `seconds` bounds each wait, and the whole transfer at ten times as much."""

    size: int = 32 * 2**20
    seconds: float = 30.0
    redirects: int = 5


LIMITS: Final = Limits()
_PATIENCE: Final = 10


def read_source(place: str, limits: Limits = LIMITS) -> bytes:
    """The bytes at a path or an http(s) address. Raises `UnusableInputError` with the place and the reason."""
    scheme, found, _ = place.partition("://")
    if not found:
        return _read_file(Path(place), limits)
    if scheme.lower() not in ("http", "https"):
        raise UnusableInputError(f"{scheme} is no scheme to read from", where=place, hint="give a path, http or https")
    return _download(place, limits)


def _read_file(path: Path, limits: Limits) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(limits.size + 1)
    except OSError as error:
        raise UnusableInputError(f"cannot be read: {error.strerror}", where=str(path)) from None
    if len(content) > limits.size:
        raise _too_large(str(path), limits)
    return content


def _download(address: str, limits: Limits) -> bytes:
    try:
        import httpx2
    except ImportError:
        raise UnusableInputError(
            "reading from an address needs httpx2", where=address, hint='pip install "concordance-key[exam]"'
        ) from None
    try:
        with (
            httpx2.Client(follow_redirects=True, max_redirects=limits.redirects, timeout=limits.seconds) as client,
            client.stream("GET", address) as response,
        ):
            response.raise_for_status()
            return _body(response, address, limits)
    except httpx2.HTTPStatusError as error:
        raise UnusableInputError(f"answers {error.response.status_code}", where=address) from None
    except httpx2.TimeoutException:
        raise UnusableInputError(f"gives no answer within {limits.seconds:g} seconds", where=address) from None
    except httpx2.TooManyRedirects:
        raise UnusableInputError(f"redirects more than {limits.redirects} times", where=address) from None
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise UnusableInputError(f"cannot be read: {str(error) or type(error).__name__}", where=address) from None


def _body(response: httpx2.Response, address: str, limits: Limits) -> bytes:
    """The body as it is, refused as soon as it is too large or takes too long however steadily it drips."""
    deadline = monotonic() + _PATIENCE * limits.seconds
    content = bytearray()
    for chunk in response.iter_bytes():
        content += chunk
        if len(content) > limits.size:
            raise _too_large(address, limits)
        if monotonic() > deadline:
            raise UnusableInputError(f"is not done after {_PATIENCE * limits.seconds:g} seconds", where=address)
    return bytes(content)


def _too_large(where: str, limits: Limits) -> UnusableInputError:
    return UnusableInputError(f"is larger than {limits.size:,} bytes", where=where)
