# SPDX-License-Identifier: MIT
"""``pyqless conformance``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pyqless.cli.options import MOST, server_url, store_url

__all__ = ["app"]

app = typer.Typer(help="Compare pyqless with a Lua core, or with what one has done.")

_Storage = Annotated[
    str,
    typer.Option(
        "--storage",
        metavar="URL",
        help="URL of the store for pyqless. Its database is EMPTIED.",
        callback=store_url,
    ),
]


@app.command()
def replay(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Traces, as .jsonl or .jsonl.gz.")
    ],
    storage: _Storage = "memory://",
) -> None:
    """
    Send the calls of recorded traces to pyqless, and show the first difference of each trace.

    The exit status is 0 if there is none, and 1 if there is any.
    """
    from pyqless.conformance.replay import replay

    raise typer.Exit(replay(files, storage))


@app.command()
def compare(
    *,
    lua: Annotated[
        Path,
        typer.Option("--lua", metavar="FILE", help="The Lua core, a file with the whole script."),
    ],
    redis: Annotated[
        str,
        typer.Option(
            "--redis",
            metavar="URL",
            help="URL of the server to run it, which allows scripts. Its database is EMPTIED.",
            callback=server_url,
        ),
    ],
    storage: _Storage = "memory://",
    seeds: Annotated[
        int,
        typer.Option(
            "--seeds",
            metavar="NUMBER",
            min=1,
            max=MOST,
            help="How many sequences of calls to draw.",
        ),
    ] = 100,
    first: Annotated[
        int, typer.Option("--first", metavar="NUMBER", help="The seed of the first sequence.")
    ] = 0,
    ops: Annotated[
        int,
        typer.Option(
            "--ops", metavar="NUMBER", min=1, max=MOST, help="How many calls a sequence has."
        ),
    ] = 150,
    most: Annotated[
        int,
        typer.Option(
            "--most", metavar="NUMBER", min=1, max=MOST, help="Stop after so many differences."
        ),
    ] = 1,
) -> None:
    """
    Send generated calls to a Lua core and to pyqless, and show differences, made as small as can be.

    The exit status is 0 if there is none, and 1 if there is any.
    """
    from pyqless.conformance.compare import compare

    drawn = range(first, first + seeds)
    raise typer.Exit(compare(lua, redis, storage, seeds=drawn, ops=ops, most=most))
