# SPDX-License-Identifier: MIT
"""Every statement, by name. SQLite compiles each once a connection."""

from __future__ import annotations

from typing import Final

# -- transactions -----------------------------------------------------------------------------

BEGIN_READING: Final = "BEGIN DEFERRED"
BEGIN_WRITING: Final = "BEGIN IMMEDIATE"
COMMIT: Final = "COMMIT"
ROLLBACK: Final = "ROLLBACK"
#: makes a transaction that has begun to read see one instant from then on
FIRST_LOOK: Final = "SELECT 1 FROM key LIMIT 0"

# -- keys -------------------------------------------------------------------------------------

TABLES: Final = "SELECT count(*) FROM sqlite_schema"
KEY: Final = "SELECT id, kind, size, value FROM key WHERE name = ?"
KEYS: Final = "SELECT name, id, kind, size, value FROM key"
ADD_KEY: Final = "INSERT INTO key (name, kind, size, value) VALUES (?, ?, ?, ?)"
SET_KEY: Final = "UPDATE key SET kind = ?, size = ?, value = ? WHERE id = ?"
SET_SIZE: Final = "UPDATE key SET size = ? WHERE id = ?"
DROP_KEY: Final = "DELETE FROM key WHERE id = ?"
DROP_VACANT: Final = "DELETE FROM key WHERE id = ? AND name = ? AND size = 0"
KEYS_BETWEEN: Final = (
    "SELECT name, id, kind, value FROM key WHERE name BETWEEN ? AND ? ORDER BY name"
)
SOME_BETWEEN: Final = "SELECT id FROM key WHERE name BETWEEN ? AND ? LIMIT ?"
FLUSH: Final = "DELETE FROM key; DELETE FROM member; DELETE FROM element"

# -- members of sorted sets and sets ----------------------------------------------------------

ADD_MEMBER: Final = "INSERT OR IGNORE INTO member (key, member, score) VALUES (?, ?, ?)"
SET_SCORE: Final = "UPDATE member SET score = ?3 WHERE key = ?1 AND member = ?2"
SCORE: Final = "SELECT score FROM member WHERE key = ? AND member = ?"
DROP_MEMBER: Final = "DELETE FROM member WHERE key = ? AND member = ?"
DROP_SCORES: Final = "DELETE FROM member WHERE key = ? AND score BETWEEN ? AND ?"
DROP_MEMBERS: Final = "DELETE FROM member WHERE key = ?"
COUNT_SCORES: Final = "SELECT count(*) FROM member WHERE key = ? AND score BETWEEN ? AND ?"
MEMBERS: Final = "SELECT member FROM member WHERE key = ? ORDER BY member"
ALL_SCORES: Final = "SELECT member, score FROM member WHERE key = ? ORDER BY score, member"
RANGE: Final = (
    "SELECT member, score FROM member WHERE key = ? ORDER BY score, member LIMIT ? OFFSET ?"
)
REVERSE_RANGE: Final = (
    "SELECT member, score FROM member WHERE key = ?"
    " ORDER BY score DESC, member DESC LIMIT ? OFFSET ?"
)
BY_SCORE: Final = (
    "SELECT member, score FROM member WHERE key = ? AND score BETWEEN ? AND ?"
    " ORDER BY score, member LIMIT ? OFFSET ?"
)
REVERSE_BY_SCORE: Final = (
    "SELECT member, score FROM member WHERE key = ? AND score BETWEEN ? AND ?"
    " ORDER BY score DESC, member DESC LIMIT ? OFFSET ?"
)

# -- elements of lists ------------------------------------------------------------------------

APPEND: Final = (
    "INSERT INTO element (key, place, text)"
    " VALUES (?1, (SELECT ifnull(max(place), 0) + 1 FROM element WHERE key = ?1), ?2)"
)
PREPEND: Final = (
    "INSERT INTO element (key, place, text)"
    " VALUES (?1, (SELECT ifnull(min(place), 0) - 1 FROM element WHERE key = ?1), ?2)"
)
ELEMENTS: Final = "SELECT text FROM element WHERE key = ? ORDER BY place"
SLICE: Final = "SELECT text FROM element WHERE key = ? ORDER BY place LIMIT ? OFFSET ?"
REVERSE_SLICE: Final = "SELECT text FROM element WHERE key = ? ORDER BY place DESC LIMIT ? OFFSET ?"
DROP_FIRST: Final = (
    "DELETE FROM element WHERE key = ?1"
    " AND place IN (SELECT place FROM element WHERE key = ?1 ORDER BY place LIMIT ?2)"
)
DROP_LAST: Final = (
    "DELETE FROM element WHERE key = ?1"
    " AND place IN (SELECT place FROM element WHERE key = ?1 ORDER BY place DESC LIMIT ?2)"
)
DROP_EQUAL: Final = "DELETE FROM element WHERE key = ? AND text = ?"
DROP_ELEMENTS: Final = "DELETE FROM element WHERE key = ?"

# -- messages ---------------------------------------------------------------------------------

LISTENERS: Final = "SELECT id, bell, channels FROM listener"
ADD_LISTENER: Final = "INSERT INTO listener (bell, channels) VALUES (?, ?)"
DROP_LISTENER: Final = "DELETE FROM listener WHERE id = ?"
ADD_MESSAGE: Final = "INSERT INTO message (channel, data) VALUES (?, ?)"
LAST_MESSAGE: Final = "SELECT ifnull(max(id), 0) FROM message"
MESSAGES: Final = "SELECT id, channel, data FROM message WHERE id > ? ORDER BY id"
DROP_OLD_MESSAGES: Final = "DELETE FROM message WHERE id <= ?"
DROP_UNHEARD_MESSAGES: Final = "DELETE FROM message WHERE NOT EXISTS (SELECT 1 FROM listener)"

# -- space ------------------------------------------------------------------------------------

FREE_PAGES: Final = "PRAGMA freelist_count"
PAGES: Final = "PRAGMA page_count"
GIVE_BACK: Final = "PRAGMA incremental_vacuum(1024)"
