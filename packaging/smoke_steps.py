"""What is tried with a bundle, step by step; each says what it found, or raises AssertionError."""

import re
import sys
import time
from collections.abc import Callable

import smoke_window
from project import VERSION
from smoke_libraries import gpu_asked_for, libraries_loaded
from smoke_places import IS_ROOT
from smoke_trial import PATIENCE, Trial

ITEMS = 240
# What may be written below the user's home: our own folders, and the system's list of its fonts.
_OWN = {
    "linux": re.compile(r"(\.local/share|\.cache|\.local/state)/Tiebreak/|\.cache/fontconfig/"),
    "darwin": re.compile(r"Library/(Application Support|Caches|Logs)/Tiebreak/"),
    "win32": re.compile(r"(data|cache|logs)/"),
}
# What the steps put into the folder that the program works in, and what they ask the program to write there.
_ASKED_FOR = {
    *("demo.tsv", "demo.parquet", "demo-judge.gguf", "roberta.gguf", "libggml-cpu-rogue.so"),
    *("cut short.gguf", "overwritten.gguf", "not a model.gguf"),
    *("submission é.tsv", "all.json", "cut.gguf", "scores.json", "calibration.json", "again.tsv", "all.csv"),
    *("report.html", "figures", "resumed.tsv", "two.tsv", "second.sqlite", "second.sqlite.run-1.lock"),
    "second.sqlite.reserve",
}


def _version(trial: Trial) -> str:
    start = time.monotonic()
    first = trial.run("--version").partition("\n")[0]
    seconds = time.monotonic() - start
    assert first == f"Tiebreak {VERSION}", f"it says {first!r}"
    assert f"usage: {trial.program.stem} " in trial.run("--help"), "its help names another program"
    assert not trial.run("nonsense", code=2), "a wrong command is not refused"
    return f"{first}, said after {seconds:.2f} s"


def _self_test(trial: Trial) -> str:
    printed = trial.run("selftest")
    assert "All checks passed." in printed, printed
    found = [line.partition("processor")[2].strip() for line in printed.splitlines() if "processor  " in line]
    return found[0]


def _check(trial: Trial) -> str:
    printed = [trial.run("check", file.name) for file in (trial.sample.dataset, trial.sample.parquet)]
    assert all(f"{ITEMS} items" in text for text in printed), printed
    return "; ".join(text.splitlines()[0] for text in printed)


def _judge(trial: Trial) -> str:
    start = time.monotonic()
    written = ("--out", "submission é.tsv", "--json", "all.json")
    printed = trial.run("judge", "demo.tsv", "--model", "demo", *written)
    seconds = time.monotonic() - start
    _assert_as_from_source(trial, "submission é.tsv")
    means = [line.split()[1] for line in printed.splitlines() if line.startswith("mean")]
    return f"equal byte for byte, after {seconds:.0f} s; mean accuracy {means[0]} %"


def _commands(trial: Trial) -> str:
    submission, encoder, gold = "submission é.tsv", trial.sample.encoder.name, ["--gold", "demo.tsv"]
    tried: list[tuple[str, ...]] = [
        ("check", submission, "--against", "demo.tsv"),
        ("models",),
        ("models", "check", "demo-judge.gguf"),
        ("models", "check", encoder),
        ("models", "cut", encoder, "--layers", "1", "--out", "cut.gguf"),
        ("evaluate", "1", *gold, "--json", "scores.json", "--confusion"),
        ("evaluate", submission, *gold, "--encoder", "cut.gguf"),
        ("calibrate", "1", *gold, "--out", "calibration.json"),
        ("runs", "recalibrate", "1", "--calibration", "calibration.json"),
        ("runs", "recalibrate", "1", "--none"),
        ("runs", "export", "1", "--out", "again.tsv", "--csv", "all.csv"),
        ("runs", "show", "1"),
        ("prompt", "1", "--tokens"),
        ("prompt", "demo.tsv", "--model", "demo", "--next", "3"),
        ("weighted-score", "1", *gold, "--fit-weights"),
        ("compare", "1", submission, *gold),
        ("audit", "1"),
        ("report", "1", *gold, "--out", "report.html", "--figures", "figures"),
    ]
    for words in tried:
        trial.run(*words)
    for name in ("cut.gguf", "scores.json", "calibration.json", "all.csv", "report.html"):
        assert trial.written(name).stat().st_size, f"{name} is empty"
    _assert_as_from_source(trial, "again.tsv")
    return f"{len(tried)} command lines, {len(list(trial.written('figures').iterdir()))} figures"


def _kill_and_resume(trial: Trial) -> str:
    store = ("--store", "second.sqlite")
    words = ("judge", "demo.tsv", "--model", "demo", "--out", "resumed.tsv", *store)
    child = trial.start(*words)
    smoke_window.wait_for(lambda: trial.judged(*store), "nothing was judged", child, PATIENCE)
    child.kill()
    child.communicate()
    judged = trial.judged(*store)
    assert 0 < judged < ITEMS, f"{judged} of {ITEMS} items were judged when it was killed"
    assert not trial.written("resumed.tsv").exists(), "half a submission was written"
    printed = trial.run(*words, messages=True)
    assert f"is resumed: {judged} of {ITEMS}" in printed, printed
    _assert_as_from_source(trial, "resumed.tsv")
    return f"killed with {judged} of {ITEMS} items judged; the same submission"


def _damaged_models(trial: Trial) -> str:
    sound = trial.sample.model.read_bytes()
    damaged = {
        "cut short.gguf": sound[: len(sound) // 2],
        "overwritten.gguf": sound[:64] + bytes(range(256)) * 4 + sound[64 + 1024 :],
        "not a model.gguf": b"<!DOCTYPE html>" * 100,
    }
    for name, content in damaged.items():
        trial.written(name).write_bytes(content)
        for words in (("models", "check"), ("judge", "demo.tsv", "--out", "never.tsv", "--model")):
            printed = trial.run(*words, name, code=2, messages=True)
            assert name in printed, printed
            assert "bug in Tiebreak" not in printed, printed
    assert not trial.written("never.tsv").exists(), "a submission was written"
    return f"{len(damaged)} files refused by name"


def _window(trial: Trial) -> str:
    if sys.platform != "linux":
        return _stays_open(trial)
    lacking = smoke_window.missing_tools()
    assert not lacking, f"to try the window, install {', '.join(lacking)}"
    home, executable = trial.window_home, trial.window_program
    with smoke_window.screen() as display:
        program = trial.start(executable=executable, home=home, variables={"DISPLAY": display})
        try:
            window = smoke_window.Window(display, program)
            time.sleep(5)  # its pages fill
            _photograph(trial, window, "first")
            window.press("ctrl+o")
            window.dismiss("Open dataset")
            window.press("ctrl+r")
            smoke_window.wait_for(
                lambda: trial.judged(home=home) == ITEMS, "the run did not end", program, PATIENCE, every=2
            )
            for keys, name in (("ctrl+3", "results"), ("ctrl+4", "review")):
                window.press(keys)
                time.sleep(5)  # measures and items are read
                _photograph(trial, window, name)
            code = window.close()
        finally:
            program.kill()
            printed = program.communicate()
    assert code == 0, f"it ended with code {code}: {printed}"
    return f"seen after {window.seconds:.2f} s; judged {ITEMS} items; closed"


def _photograph(trial: Trial, window: smoke_window.Window, name: str) -> None:
    if trial.screenshots:
        trial.screenshots.mkdir(parents=True, exist_ok=True)
        window.photograph(trial.screenshots / f"{trial.place.name.replace(' ', '-')}-{name}.png")


def _stays_open(trial: Trial) -> str:
    """Where there is no screen of our own to look at."""
    program = trial.start(executable=trial.window_program, home=trial.window_home)
    try:
        if sys.platform == "win32":
            smoke_window.wait_for(
                lambda: smoke_window.windows_titles(program.pid, "Tiebreak"), "no window was opened", program
            )
            return "opened"
        time.sleep(20)
        assert program.poll() is None, f"the window ended with code {program.returncode}"
        return "the program stays for 20 s; its window was not looked at"
    finally:
        program.kill()
        program.communicate()


def _traces(trial: Trial) -> str:
    changed = trial.files_now() ^ trial.files_before
    assert not changed, f"the program's own folder has changed: {sorted(changed)[:5]}"
    left = list(trial.place.outside(trial.temporary).iterdir())
    assert not left, f"left in the temporary folder: {left}"
    beside = {path.name for path in trial.place.outside(trial.work).iterdir()} - _ASKED_FOR
    assert not beside, f"written beside what was asked for: {sorted(beside)}"
    homes = [trial.place.outside(home) for home in (trial.home, trial.window_home)]
    files = ((home, path) for home in homes for path in home.rglob("*") if path.is_file())
    written = [path.relative_to(home).as_posix() for home, path in files]
    foreign = [name for name in written if not _OWN[sys.platform].match(name)]
    assert not foreign, f"written outside the program's own folders: {foreign}"
    if not IS_ROOT:
        return f"{len(written)} files, all in the program's own folders (as root, all disks are searched)"
    elsewhere = sorted(trial.place.of_stranger() - trial.of_stranger_before)
    assert not elsewhere, f"written elsewhere: {elsewhere[:5]}"
    return f"{len(written)} files, all in the program's own folders; none elsewhere on the disk"


def _assert_as_from_source(trial: Trial, name: str) -> None:
    same = trial.written(name).read_bytes() == trial.sample.submission.read_bytes()
    assert same, f"{name} is not the submission that the source writes"


STEPS: tuple[tuple[str, Callable[[Trial], str]], ...] = (
    ("version and help", _version),
    ("self-test", _self_test),
    ("check datasets", _check),
    ("judge, as from source", _judge),
    ("every other command", _commands),
    ("kill and resume", _kill_and_resume),
    ("damaged models", _damaged_models),
    ("the window", _window),
    ("libraries loaded", libraries_loaded),
    ("a GPU asked for", gpu_asked_for),
    ("nothing left elsewhere", _traces),
)
