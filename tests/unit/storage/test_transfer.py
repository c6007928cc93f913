# SPDX-License-Identifier: MIT
"""Dumps: what is written comes back, and what is not whole is refused before anything is touched."""

from __future__ import annotations

import hashlib
import io
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgpack
import pytest

from pyqless.errors import DamagedDump, InvalidArgument, StoreCorrupted, StoreNotEmpty
from pyqless.storage import Storage, transfer
from pyqless.storage.memory import MemoryStorage
from pyqless.storage.parts import Part
from pyqless.storage.transfer import Difference, Header, Totals

#: one key of each kind, without its namespace, in the order of their bytes
PARTS: Final = [
    Part("hash", "hash", (("", "a\0b"), ("a", "1"), ("\u00e9", "\udcff"))),
    Part("list", "list", ("b", "a", "b", "")),
    Part("set", "set", ("", "B", "a", "\U0001f600", "\udcff")),
    Part("text", "string", ("\udcff x",)),
    Part("zset", "zset", (("low", -math.inf), ("x", 0.1), ("y", 0.1), ("high", math.inf))),
]
MOMENT: Final = 1400000000.25


def filled(*parts: Part, namespace: str = "ql") -> MemoryStorage:
    storage = MemoryStorage(namespace=namespace, clock=lambda: MOMENT)
    storage.restore(part._replace(key=storage.keys.prefix + part.key) for part in parts)
    return storage


def dumped(storage: Storage) -> bytes:
    file = io.BytesIO()
    transfer.dump(storage, file)
    return file.getvalue()


def load(storage: Storage, data: bytes, **options: Any) -> tuple[Header, Totals]:
    return transfer.load(storage, io.BytesIO(data), **options)


@pytest.fixture(scope="module")
def small() -> bytes:
    """A dump in which everything occurs, as small as can be."""
    return dumped(filled(*PARTS))


@pytest.fixture
def target() -> Iterator[MemoryStorage]:
    """A storage that holds something; whatever is refused must leave it alone."""
    storage = filled(Part("hash", "hash", (("kept", "1"),)))
    before = storage.dump()
    yield storage
    assert storage.dump() == before


# -- there and back ---------------------------------------------------------------------------


def test_what_is_dumped_comes_back(small: bytes) -> None:
    target = filled()

    told = load(target, small)

    assert target.dump() == filled(*PARTS).dump()
    assert told == (Header("ql", MOMENT, one_instant=True), Totals(keys=5, items=17))


def test_the_same_content_gives_the_same_file(small: bytes) -> None:
    assert dumped(filled(*reversed(PARTS))) == small


def test_the_file_is_a_stream_of_messagepack(small: bytes) -> None:
    records = list(msgpack.Unpacker(io.BytesIO(small), unicode_errors="surrogateescape"))

    assert records[0]["format"] == "pyqless dump"
    assert records[0]["version"] == 1
    assert [record[:2] for record in records[1:-2]] == [[part.key, part.kind] for part in PARTS]
    assert records[-2] == {"keys": 5, "items": 17}
    assert records[-1] == hashlib.sha256(small[:-34]).digest()


def test_an_empty_store_may_be_dumped_and_loaded() -> None:
    target = filled()
    assert load(target, dumped(filled()))[1] == Totals(0, 0)
    assert target.dump() == {}


def test_private_keys_stay_behind() -> None:
    source = filled(*PARTS, Part("py:fence:1", "hash", (("seq", "1"),)))
    target = filled()
    load(target, dumped(source))
    assert target.dump() == filled(*PARTS).dump()
    assert "ql:py:fence:1" not in target._database.keyspace.data


def test_a_dump_fits_into_any_namespace(small: bytes) -> None:
    target = filled(namespace="{x}")
    load(target, small)
    assert target.dump() == filled(*PARTS, namespace="{x}").dump()


def test_large_keys_come_back_whole() -> None:
    names = [f"{number:05}" for number in range(2500)]
    source = filled(
        Part("hash", "hash", tuple((name, name) for name in names)),
        Part("list", "list", tuple(names)),
        Part("set", "set", tuple(names)),
        Part("zset", "zset", tuple((name, float(name)) for name in names)),
    )
    target = filled()
    _, totals = load(target, dumped(source))
    assert totals == Totals(keys=4, items=10000)
    assert target.dump() == source.dump()


def test_progress_is_told(small: bytes) -> None:
    told: list[tuple[int, int | None]] = []
    transfer.dump(filled(*PARTS), io.BytesIO(), progress=lambda *done: told.append(done))
    assert told == [(number, None) for number in range(1, 6)]
    told.clear()
    load(filled(), small, progress=lambda *done: told.append(done))
    assert told == [(number, 5) for number in range(6)]


class Pipe(io.RawIOBase):
    """Bytes that can be read but once."""

    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._data.readinto(buffer)


def test_a_dump_may_come_through_a_pipe(small: bytes) -> None:
    target = filled()
    transfer.load(target, io.BufferedReader(Pipe(small)))
    assert target.dump() == filled(*PARTS).dump()


# -- what is not whole ------------------------------------------------------------------------


def test_a_dump_cut_off_anywhere_is_refused(small: bytes, target: MemoryStorage) -> None:
    for length in range(len(small)):
        with pytest.raises(DamagedDump):
            load(target, small[:length], existing="replace")


def test_a_dump_with_any_bit_flipped_is_refused(small: bytes, target: MemoryStorage) -> None:
    for place in range(len(small)):
        for bit in range(8):
            data = bytearray(small)
            data[place] ^= 1 << bit
            with pytest.raises(DamagedDump):
                load(target, bytes(data), existing="replace")


def test_a_dump_with_something_behind_it_is_refused(small: bytes, target: MemoryStorage) -> None:
    for data in (small + b"\0", small + b"\xc0", small + small, small[:-34] * 2 + small[-34:]):
        with pytest.raises(DamagedDump):
            load(target, data, existing="merge")


@pytest.mark.parametrize("data", [b"", b"x", b"\x80", b"\xc0", b"\xdf", b"pyqless dump\n" * 1000])
def test_what_is_no_dump_is_refused(target: MemoryStorage, data: bytes) -> None:
    with pytest.raises(DamagedDump, match="this is no dump of pyqless"):
        load(target, data, existing="replace")


def made(*records: Any, version: int = 1, totals: Any = None, **header: Any) -> bytes:
    """A file with a right checksum, whatever is in it."""
    fields = {"namespace": "ql", "moment": MOMENT, "one_instant": True} | header
    first = {"format": "pyqless dump", "version": version, **fields}
    last = totals or {"keys": len(records), "items": sum(len(record[2]) for record in records)}
    content = b"".join(map(msgpack.packb, (first, *records, last)))
    checksum: bytes = msgpack.packb(hashlib.sha256(content).digest())
    return content + checksum


def test_a_file_made_by_hand_is_taken() -> None:
    target = filled()
    load(target, made(("a", "list", ["x"]), ("b", "zset", [["x", 1.5]])))
    assert target.dump() == {
        "ql:a": {"type": "list", "value": ["x"]},
        "ql:b": {"type": "zset", "value": [["x", "1.5"]]},
    }


def test_a_later_version_is_refused_and_named(target: MemoryStorage) -> None:
    with pytest.raises(DamagedDump, match="version 2; known here is 1") as caught:
        load(target, made(version=2), existing="replace")
    assert caught.value.value == 2


NONSENSE: Final = {
    "a field too many in the header": made(surplus=1),
    "a private key": made(("py:fence:1", "hash", [["a", "1"]])),
    "a key too few": made(("a", "list", ["x"]), totals={"keys": 2, "items": 1}),
    "an item too few": made(("a", "list", ["x"]), totals={"keys": 1, "items": 2}),
    "totals that lack one": made(("a", "list", ["x"]), totals={"keys": 1}),
    "an unknown type": made(("a", "stream", ["x"])),
    "no items": made(("a", "list", [])),
    "a number in a list": made(("a", "list", [1])),
    "two texts of a string": made(("a", "string", ["x", "y"])),
    "a field without text": made(("a", "hash", [["x"]])),
    "a text for a field": made(("a", "hash", ["xy"])),
    "a number in a field": made(("a", "hash", [["x", 1]])),
    "a text for a score": made(("a", "zset", [["x", "1"]])),
    "a score that is no number": made(("a", "zset", [["x", math.nan]])),
    "a number for a key": made((1, "list", ["x"])),
    "a list for a type": made(("a", ["list"], ["x"])),
    "a part too long": made(("a", "list", ["x"], 1)),
}


@pytest.mark.parametrize("data", NONSENSE.values(), ids=NONSENSE)
def test_what_makes_no_sense_is_refused(target: MemoryStorage, data: bytes) -> None:
    with pytest.raises(DamagedDump):
        load(target, data, existing="replace")


# -- what is there already --------------------------------------------------------------------


def test_a_store_that_holds_something_is_refused(small: bytes, target: MemoryStorage) -> None:
    with pytest.raises(StoreNotEmpty, match="ql:hash") as caught:
        load(target, small)
    assert caught.value.argument == "existing"


def test_private_keys_are_nothing(small: bytes) -> None:
    target = filled(Part("py:fence:1", "hash", (("seq", "1"),)))
    load(target, small)
    assert target.dump() == filled(*PARTS).dump()


def test_other_namespaces_are_nothing_and_stay(small: bytes) -> None:
    other = MemoryStorage("memory://transfer-namespaces", namespace="other")
    target = MemoryStorage("memory://transfer-namespaces")
    other.restore([Part("other:a", "set", ("a",))])
    load(target, small)
    load(target, small, existing="replace")
    assert target.dump() == filled(*PARTS).dump() | {"other:a": {"type": "set", "value": ["a"]}}


def test_a_namespace_that_no_file_can_express_is_refused() -> None:
    file = io.BytesIO()
    with pytest.raises(InvalidArgument, match="surrogate") as raised:
        transfer.dump(MemoryStorage(namespace="q\ud800"), file)
    assert (raised.value.argument, raised.value.value) == ("namespace", "q\ud800")
    assert file.getvalue() == b""
    storage = filled(*PARTS, namespace="q\udcff")  # a byte that is no UTF-8
    target = MemoryStorage(namespace="q\udcff")
    assert load(target, dumped(storage))[0].namespace == "q\udcff"
    assert target.dump() == storage.dump()


def test_a_store_is_replaced(small: bytes) -> None:
    target = filled(Part("hash", "zset", (("a", 1.0),)), Part("py:pending", "list", ("a",)))
    load(target, small, existing="replace")
    assert target.dump() == filled(*PARTS).dump()
    assert "ql:py:pending" not in target._database.keyspace.data


def test_a_store_is_merged_with_a_dump(small: bytes) -> None:
    target = filled(
        Part("hash", "hash", (("a", "0"), ("b", "2"))),
        Part("list", "list", ("a", "c", "c")),
        Part("only", "set", ("x",)),
        Part("set", "set", ("a", "c")),
        Part("text", "string", ("y",)),
        Part("zset", "zset", (("x", 5.0), ("z", 1.0))),
    )
    load(target, small, existing="merge")
    merged = filled(
        Part("hash", "hash", (("", "a\0b"), ("a", "1"), ("b", "2"), ("\u00e9", "\udcff"))),
        Part("list", "list", ("a", "c", "c", "b", "b", "")),
        Part("only", "set", ("x",)),
        Part("set", "set", ("", "B", "a", "c", "\U0001f600", "\udcff")),
        Part("text", "string", ("\udcff x",)),
        Part(
            "zset",
            "zset",
            (("low", -math.inf), ("x", 0.1), ("y", 0.1), ("z", 1.0), ("high", math.inf)),
        ),
    )
    assert target.dump() == merged.dump()


def test_merging_twice_is_merging_once() -> None:
    many = tuple(str(number) for number in range(2500))
    source = filled(*PARTS, Part("many", "list", many), Part("some", "list", ("a", "a")))
    target = filled(Part("many", "list", ("none",)))
    load(target, dumped(source), existing="merge")
    once = target.dump()
    load(target, dumped(source), existing="merge")
    assert target.dump() == once
    assert once["ql:many"]["value"] == ["none", *many]


def test_types_that_do_not_match_are_not_merged() -> None:
    target = filled(Part("list", "hash", (("a", "1"),)))
    with pytest.raises(StoreCorrupted) as caught:
        load(target, dumped(filled(*PARTS)), existing="merge")
    assert caught.value.argument == "ql:list"


def test_there_are_three_ways(small: bytes, target: MemoryStorage) -> None:
    with pytest.raises(InvalidArgument, match="refuse, replace, merge, not 'force'") as caught:
        load(target, small, existing="force")
    assert (caught.value.argument, caught.value.value) == ("existing", "force")


# -- memory in a file -------------------------------------------------------------------------


def test_memory_is_saved_and_opened(tmp_path: Path) -> None:
    path = tmp_path / "jobs.dump"
    assert transfer.save(filled(*PARTS), path)[1].keys == 5
    transfer.save(filled(*PARTS[:1]), path)
    with transfer.open_memory(path, namespace="x") as storage:
        assert storage.dump() == filled(*PARTS[:1], namespace="x").dump()
    assert [file.name for file in tmp_path.iterdir()] == ["jobs.dump"]


def test_a_save_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    class Broken(MemoryStorage):
        def scan(self) -> Any:
            yield Part("ql:a", "list", ("x",))
            raise StoreCorrupted("ql:b is a stream")

    path = tmp_path / "jobs.dump"
    transfer.save(filled(*PARTS), path)
    before = path.read_bytes()
    with pytest.raises(StoreCorrupted):
        transfer.save(Broken(), path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["jobs.dump"]


def test_a_damaged_file_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "jobs.dump"
    transfer.save(filled(*PARTS), path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DamagedDump):
        transfer.open_memory(path)


# -- differences ------------------------------------------------------------------------------


def test_equal_stores_do_not_differ() -> None:
    assert list(transfer.diff(filled(*PARTS), filled(*PARTS, namespace="other"))) == []
    assert list(transfer.diff(filled(), filled())) == []


def test_differences_are_told_in_order() -> None:
    other = filled(
        Part("hash", "hash", (("a", "2"), ("b", ""), ("\u00e9", "\udcff"))),
        Part("list", "list", ("b", "a")),
        Part("new", "set", ("x",)),
        Part("set", "set", ("", "A", "a", "\U0001f600", "\udcff")),
        Part("text", "list", ("x",)),
        Part("zset", "zset", (("low", -math.inf), ("x", 0.2), ("y", 0.1), ("high", math.inf))),
    )
    assert list(transfer.diff(filled(*PARTS), other)) == [
        Difference("hash", "", "a\0b", None),
        Difference("hash", "a", "1", "2"),
        Difference("hash", "b", None, ""),
        Difference("list", 2, "b", None),
        Difference("new", None, None, "set"),
        Difference("set", "A", None, "A"),
        Difference("set", "B", "B", None),
        Difference("text", None, "string", "list"),
        Difference("zset", 1, ("x", 0.1), ("y", 0.1)),
    ]


def test_large_keys_are_compared_across_their_parts() -> None:
    names = [f"{number:05}" for number in range(2500)]
    one = filled(Part("list", "list", tuple(names)), Part("set", "set", tuple(names)))
    other = filled(Part("list", "list", (*names[:2100], "x")), Part("set", "set", tuple(names[1:])))
    assert list(transfer.diff(one, other)) == [
        Difference("list", 2100, "02100", "x"),
        Difference("set", "00000", "00000", None),
    ]
