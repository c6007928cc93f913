-- Version 1. A released version is never edited: what changes goes into a further script,
-- which migrations.py then lists behind this one.
--
-- Text stands as bytes (UTF-8; bytes that are no UTF-8 stand as they are), so that it sorts as in Redis.

-- Every key there is. A small value lies in the row itself, as MessagePack; a large list, set or
-- sorted set has its elements in a table of their own, and its `value` is NULL.
CREATE TABLE key (
    id    INTEGER PRIMARY KEY,
    name  BLOB    NOT NULL UNIQUE,
    kind  INTEGER NOT NULL,         -- 1 hash, 2 list, 3 set, 4 sorted set, 5 string
    size  INTEGER NOT NULL,         -- elements; 0 in rows that some sorted sets leave for their next members
    value BLOB
) STRICT;

-- The members of large sorted sets, and those of large sets, all of the score 0.
CREATE TABLE member (
    key    INTEGER NOT NULL,
    member BLOB    NOT NULL,
    score  REAL    NOT NULL,
    PRIMARY KEY (key, member)
) STRICT, WITHOUT ROWID;

CREATE INDEX member_by_score ON member (key, score, member);

-- The elements of large lists; only the order of the places has a meaning.
CREATE TABLE element (
    key   INTEGER NOT NULL,
    place INTEGER NOT NULL,
    text  BLOB    NOT NULL,
    PRIMARY KEY (key, place)
) STRICT, WITHOUT ROWID;

-- Who listens, and the name of the socket beside this file that wakes them (NULL: they look by
-- themselves).
CREATE TABLE listener (
    id       INTEGER PRIMARY KEY,
    bell     BLOB,
    channels BLOB NOT NULL          -- names and patterns, as a MessagePack array
) STRICT;

-- What was published while somebody listened: the last few thousand, in the order of the commits.
CREATE TABLE message (
    id      INTEGER PRIMARY KEY,
    channel BLOB NOT NULL,
    data    BLOB NOT NULL
) STRICT;
