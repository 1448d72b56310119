# SPDX-License-Identifier: BSD-3-Clause
"""What a notebook shows."""
from __future__ import annotations

import html
from typing import Any

from . import _core
from ._arrays import F64, as_rows, contiguous

#: Entries of a matrix whose picture a notebook shows without being asked: it takes some passes over them.
MOST_DRAWN = 5_000_000


def sketch_of(A: Any, ordinal: int, single: bool) -> dict[str, Any]:
    """What is shown of a matrix; products with it are expected on that device."""
    stored: Any = A
    indptr, indices, data, shape = as_rows(stored.tocsr() if isinstance(A, _core.Matrix) else A)
    return _core.sketch(indptr, indices, contiguous(data, F64), *shape, ordinal, single)


def shown(head: str, rows: dict[str, object], *pictures: str) -> str:
    """What a notebook shows: a sentence, a table, and pictures side by side where there is room."""
    cells = "".join(f"<tr><th style='text-align:left'>{html.escape(k)}</th>"
                    f"<td style='text-align:left'>{html.escape(str(v))}</td></tr>" for k, v in rows.items())
    drawn = "".join(svg.replace("<svg ", '<svg style="max-width:100%;height:auto" ', 1) for svg in pictures if svg)
    return (f"<div class='furrow'><p><strong>{html.escape(head)}</strong></p><table>{cells}</table>"
            f"<div style='display:flex;flex-wrap:wrap;gap:1em;align-items:flex-start'>{drawn}</div></div>")
