"""A figure that shows itself in a notebook, whatever matplotlib is set to."""

from __future__ import annotations

import io

from matplotlib.figure import Figure

# Twice the dots of matplotlib's own, so that it is sharp on any screen.
DOTS = 144


class Picture(Figure):
    """A matplotlib figure; in a notebook it is shown when it is the last line of a cell."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=DOTS)
        return buffer.getvalue()
