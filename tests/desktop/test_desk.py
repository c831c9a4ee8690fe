"""The window opens on a real desktop and closes by its key."""

from pathlib import Path

from tests.desktop.desk import PATIENCE, Desk, wait_for


def test_the_window_is_seen_and_closed_by_its_key(a_desk: Desk, tmp_path: Path) -> None:
    empty = a_desk.picture()
    with a_desk.program(home=tmp_path) as program:
        number = a_desk.window()
        wait_for(lambda: a_desk.tool("xdotool", "getactivewindow").strip() == number, "the focus")
        wait_for(lambda: a_desk.picture() != empty, "a picture of it")
        a_desk.press("ctrl+q")
        assert program.wait(timeout=PATIENCE) == 0
