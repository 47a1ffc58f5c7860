CREATE TABLE runs (
    run TEXT PRIMARY KEY NOT NULL,
    plan TEXT NOT NULL,
    begun_ns INTEGER NOT NULL,
    state TEXT NOT NULL,
    facts BLOB NOT NULL
) STRICT;
CREATE INDEX runs_of_plan ON runs (plan);

CREATE TABLE conversations (
    id INTEGER PRIMARY KEY,
    conversation BLOB NOT NULL UNIQUE,
    run TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
    head BLOB NOT NULL,
    finish BLOB
) STRICT;
CREATE INDEX conversations_of_run ON conversations (run);

CREATE TABLE turns (
    id INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL REFERENCES conversations ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    content BLOB NOT NULL,
    UNIQUE (conversation, seq, attempt)
) STRICT;

CREATE TABLE programs (
    hash TEXT PRIMARY KEY NOT NULL,
    language TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;

CREATE TABLE asked (
    id INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL REFERENCES conversations ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    in_doubt INTEGER NOT NULL DEFAULT 0,
    content BLOB NOT NULL
) STRICT;
CREATE INDEX asked_of_turn ON asked (conversation, seq, attempt);

CREATE TABLE answers (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL,
    conversation INTEGER NOT NULL REFERENCES conversations ON DELETE CASCADE,
    shared INTEGER NOT NULL,
    content BLOB NOT NULL,
    UNIQUE (key, conversation)
) STRICT;
CREATE INDEX answers_of_conversation ON answers (conversation);
