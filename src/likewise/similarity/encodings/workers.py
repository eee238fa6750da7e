"""Encodes objects in a process of its own, for libraries that hold Python's lock.

A plain interpreter that reads tasks from its input: unlike the processes of the standard library it does not run the
user's script again, so that no `if __name__ == "__main__"` is needed, and unlike a fork it holds no lock of a thread.
It finds modules where this process does. A file beside the data, named like a library, is not among them (`-P`).
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from likewise.errors import LikewiseError
from likewise.similarity.base import Similarity
from likewise.similarity.encodings.arrays import Encoding

COMMAND = "from likewise.similarity.encodings.workers import serve; serve()"


class Worker:
    """A process that encodes what it is sent."""

    def __init__(self) -> None:
        single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", COMMAND, *_working_directory()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **single, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )

    def __enter__(self) -> Self:
        return self

    def encode(self, similarities: Sequence[Similarity], objects: Sequence[Any]) -> list[Encoding]:
        """The encodings of these objects by each similarity; a similarity's complaint about them is raised here."""
        task, answer = self._process.stdin, self._process.stdout
        assert task is not None
        assert answer is not None
        try:
            pickle.dump((list(similarities), list(objects)), task, protocol=pickle.HIGHEST_PROTOCOL)
            task.flush()
            found = pickle.load(answer)
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            names = ", ".join(similarity.name for similarity in similarities)
            raise LikewiseError(
                f"a process that encoded objects for {names} has ended with code {self._process.poll()}; "
                "with processes=1 the work is done in this one"
            ) from error
        if isinstance(found, BaseException):
            raise found
        made: list[Encoding] = found
        return made

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    # It has died with a task in the pipe.
                    continue
        self._process.kill()
        self._process.wait()


def _working_directory() -> list[str]:
    """The working directory, where this process finds modules in it: an interactive one does."""
    return [os.getcwd()] if "" in sys.path else []


def serve() -> None:
    """What the process does: answer tasks until its input ends."""
    # The user's modules may be there; the libraries have been found elsewhere.
    sys.path += sys.argv[1:]
    tasks, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    # What libraries print must not mix with the answers.
    os.dup2(2, 1)
    while True:
        try:
            similarities, objects = pickle.load(tasks)
        except (EOFError, KeyboardInterrupt):
            return
        found: list[Encoding] | Exception
        try:
            found = [similarity.encode(objects) for similarity in similarities]
        except Exception as error:
            found = error
        pickle.dump(found, answers, protocol=pickle.HIGHEST_PROTOCOL)
        answers.flush()
