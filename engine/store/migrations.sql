-- 001_runs
CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    created TEXT NOT NULL,
    dataset_path TEXT NOT NULL,
    dataset_hash TEXT NOT NULL,
    items INTEGER NOT NULL,
    model_path TEXT NOT NULL,
    model_name TEXT NOT NULL,
    model_hash TEXT NOT NULL,
    prompt_version TEXT NOT NULL,
    criteria TEXT NOT NULL,
    settings TEXT NOT NULL,
    manifest TEXT NOT NULL DEFAULT '{}',
    worker INTEGER
);
CREATE INDEX run_by_key ON run (key);
CREATE TABLE judged_item (
    run_id INTEGER NOT NULL REFERENCES run (id),
    position INTEGER NOT NULL,
    item_id TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    left_out_a INTEGER,
    left_out_b INTEGER,
    seconds REAL NOT NULL,
    tokens_read INTEGER NOT NULL,
    tokens_generated INTEGER NOT NULL,
    PRIMARY KEY (run_id, position)
) WITHOUT ROWID;
CREATE TABLE reading (
    run_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    criterion TEXT NOT NULL,
    seen_order TEXT NOT NULL,
    log_a REAL,
    log_b REAL,
    log_both_good REAL,
    log_both_bad REAL,
    PRIMARY KEY (run_id, position, criterion, seen_order)
) WITHOUT ROWID;
CREATE TABLE explanation (
    run_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    criterion TEXT NOT NULL,
    preference TEXT NOT NULL,
    text TEXT NOT NULL,
    cut INTEGER NOT NULL,
    PRIMARY KEY (run_id, position, criterion)
) WITHOUT ROWID;
CREATE TABLE unscored (
    run_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    criterion TEXT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (run_id, position, criterion)
) WITHOUT ROWID;

-- 002_calibration_and_measures
ALTER TABLE run ADD COLUMN calibration TEXT;
CREATE TABLE measured (
    key TEXT PRIMARY KEY,
    numbers TEXT NOT NULL
) WITHOUT ROWID;

-- 003_overrides
CREATE TABLE override (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run (id),
    item_id TEXT NOT NULL,
    criterion TEXT NOT NULL,
    preference TEXT,
    explanation TEXT,
    author TEXT NOT NULL,
    created TEXT NOT NULL,
    undone TEXT
);
CREATE INDEX override_by_place ON override (run_id, item_id, criterion);

-- 004_rewritten_explanations
CREATE TABLE rewritten_explanation (
    run_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    criterion TEXT NOT NULL,
    preference TEXT NOT NULL,
    text TEXT NOT NULL,
    cut INTEGER NOT NULL,
    PRIMARY KEY (run_id, position, criterion, preference)
) WITHOUT ROWID;

-- 005_submissions_and_reviewers
ALTER TABLE run ADD COLUMN kind TEXT NOT NULL DEFAULT 'judged';
CREATE TABLE given (
    run_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    criterion TEXT NOT NULL,
    preference TEXT,
    explanation TEXT,
    PRIMARY KEY (run_id, position, criterion)
) WITHOUT ROWID;
CREATE TABLE review_mark (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run (id),
    item_id TEXT NOT NULL,
    author TEXT NOT NULL,
    state TEXT NOT NULL,
    created TEXT NOT NULL
);
CREATE INDEX review_mark_by_run ON review_mark (run_id);
CREATE TABLE confirmation (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run (id),
    item_id TEXT NOT NULL,
    criterion TEXT NOT NULL,
    preference TEXT NOT NULL,
    author TEXT NOT NULL,
    created TEXT NOT NULL
);
CREATE INDEX confirmation_by_run ON confirmation (run_id);
CREATE TABLE item_note (
    id INTEGER PRIMARY KEY,
    content_hash TEXT NOT NULL,
    author TEXT NOT NULL,
    text TEXT NOT NULL,
    tags TEXT NOT NULL,
    created TEXT NOT NULL
);
CREATE INDEX item_note_by_item ON item_note (content_hash);

-- 006_names_archive_and_deletion
ALTER TABLE run ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN note TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN archived TEXT;
ALTER TABLE run ADD COLUMN archived_by TEXT;
CREATE TABLE deleted_run (
    id INTEGER PRIMARY KEY,
    deleted TEXT NOT NULL
);

-- 007_rubrics_and_ways
ALTER TABLE run ADD COLUMN rubric TEXT;
CREATE TABLE answer (
    run_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    criterion TEXT NOT NULL,
    seen_order TEXT NOT NULL,
    way TEXT NOT NULL,
    place INTEGER NOT NULL,
    question TEXT NOT NULL,
    log_probs TEXT NOT NULL,
    thought TEXT NOT NULL,
    cut INTEGER NOT NULL,
    PRIMARY KEY (run_id, position, criterion, seen_order, way, place)
) WITHOUT ROWID;

-- 008_where_labels_came_from
ALTER TABLE run ADD COLUMN review_seed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE override ADD COLUMN origin TEXT;
ALTER TABLE confirmation ADD COLUMN origin TEXT;

-- 009_random_samples_by_their_seeds
ALTER TABLE override ADD COLUMN seed INTEGER;
ALTER TABLE confirmation ADD COLUMN seed INTEGER;
UPDATE override SET seed = (SELECT review_seed FROM run WHERE run.id = override.run_id)
    WHERE origin = 'random';
UPDATE confirmation SET seed = (SELECT review_seed FROM run WHERE run.id = confirmation.run_id)
    WHERE origin = 'random';

-- 010_words_of_outboxes_and_drafts
-- `taken`: up to which number the words of a write-ahead log are in this store.
CREATE TABLE outbox (
    name TEXT PRIMARY KEY,
    taken INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE draft (
    id TEXT PRIMARY KEY,
    run_id INTEGER NOT NULL,
    item_id TEXT NOT NULL,
    criterion TEXT NOT NULL,
    author TEXT NOT NULL,
    text TEXT NOT NULL,
    created TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX draft_by_run ON draft (run_id);

-- 011_steps_that_can_be_taken_back_and_settled_labels
ALTER TABLE override ADD COLUMN written_for TEXT;
ALTER TABLE override ADD COLUMN blind INTEGER;
ALTER TABLE override ADD COLUMN settles INTEGER NOT NULL DEFAULT 0;
ALTER TABLE confirmation ADD COLUMN blind INTEGER;
ALTER TABLE confirmation ADD COLUMN undone TEXT;
ALTER TABLE review_mark ADD COLUMN undone TEXT;
ALTER TABLE item_note ADD COLUMN undone TEXT;

-- 012_words_of_other_stores
-- `redone`: when a step that was taken back was done again last. `own_store`: by which others know
-- this store. `met_person`: how somebody of another store is called in this one.
ALTER TABLE override ADD COLUMN redone TEXT;
ALTER TABLE confirmation ADD COLUMN redone TEXT;
ALTER TABLE review_mark ADD COLUMN redone TEXT;
ALTER TABLE item_note ADD COLUMN redone TEXT;
CREATE TABLE own_store (
    id TEXT PRIMARY KEY
) WITHOUT ROWID;
CREATE TABLE met_person (
    store TEXT NOT NULL,
    name TEXT NOT NULL,
    called TEXT NOT NULL,
    PRIMARY KEY (store, name)
) WITHOUT ROWID;

-- 013_panels_and_lengths_of_responses
-- `panel_reading`: what a jury's judges said; of methods that ask several questions, what was made of
-- the answers.
ALTER TABLE judged_item ADD COLUMN letters_a INTEGER;
ALTER TABLE judged_item ADD COLUMN letters_b INTEGER;
CREATE TABLE panel_reading (
    run_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    criterion TEXT NOT NULL,
    judge INTEGER NOT NULL,
    way TEXT NOT NULL,
    seen_order TEXT NOT NULL,
    log_a REAL,
    log_b REAL,
    log_both_good REAL,
    log_both_bad REAL,
    PRIMARY KEY (run_id, position, criterion, judge, way, seen_order)
) WITHOUT ROWID;

-- 014_hidden_repeats
-- What an annotator said of an item that came to them once more, unmarked: no label that counts.
CREATE TABLE repeated_label (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run (id),
    item_id TEXT NOT NULL,
    criterion TEXT NOT NULL,
    preference TEXT NOT NULL,
    author TEXT NOT NULL,
    created TEXT NOT NULL,
    origin TEXT,
    seed INTEGER,
    blind INTEGER,
    undone TEXT,
    redone TEXT
);
CREATE INDEX repeated_label_by_run ON repeated_label (run_id);
