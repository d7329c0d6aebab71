"""A real server in a process of its own, for tests that talk to it as clients do."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from conftest import ROOT


class Server:
    """A running `concordance serve`; its address, and its process to be told to end."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process = process
        self._log = log
        self.address = self._started()

    @property
    def said(self) -> str:
        """All that it has said so far."""
        return self._log.read_text()

    def end(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Tell it to end, and wait: its exit status."""
        self.process.send_signal(how)
        return self.process.wait(timeout=60)

    def _started(self) -> str:
        while self.process.poll() is None:
            if match := re.search(r"serving .* at (http://\S+)\n", self.said):
                return match[1]
            time.sleep(0.02)
        raise AssertionError(f"the server did not start: {self.said}")


@contextmanager
def running(*options: str, workspace: Path = ROOT) -> Iterator[Server]:
    """Serve a workspace at a free port of this machine."""
    command = [sys.executable, "-m", "concordance", "--workspace", str(workspace), "serve", "--port", "0", *options]
    with tempfile.NamedTemporaryFile() as log:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log)
        try:
            yield Server(process, Path(log.name))
        finally:
            process.kill()
            process.wait()
