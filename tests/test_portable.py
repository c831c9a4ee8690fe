"""The program asks no system for what another one lacks, unless it looks before which one it runs on.

One walk over the sources: calls and names that Windows does not have or takes otherwise, folders that Unix
alone has, and processes whose words are read in letters that depend on the computer.
"""

import ast
from collections.abc import Iterable
from pathlib import PurePosixPath

from tests.test_layout import PROGRAM, lies_in, sources, syntax


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


MODULES = names("crypt fcntl grp nis posix pty pwd readline resource spwd syslog termios tty")
OF_OS = names("""
    chown chroot confstr ctermid fchdir fchmod fchown fork forkpty fpathconf fstatvfs getegid geteuid getgid
    getgrouplist getgroups getloadavg getpgid getpgrp getpriority getresgid getresuid getsid getuid initgroups
    kill killpg lchown lockf mkfifo mknod nice openpty pathconf pidfd_open posix_fadvise posix_fallocate
    posix_spawn posix_spawnp pread preadv pwrite pwritev readv register_at_fork sched_getaffinity
    sched_setaffinity sched_yield sendfile set_blocking setegid seteuid setgid setgroups setpgid setpriority
    setsid setuid statvfs sync sysconf tcgetpgrp tcsetpgrp ttyname uname wait wait3 wait4 writev
    O_ASYNC O_CLOEXEC O_DIRECT O_DIRECTORY O_DSYNC O_NOATIME O_NOCTTY O_NOFOLLOW O_NONBLOCK O_PATH O_SYNC
    O_TMPFILE EX_OK
""")
OF_SIGNAL = names("""
    SIGALRM SIGBUS SIGCHLD SIGCONT SIGHUP SIGIO SIGKILL SIGPIPE SIGPROF SIGQUIT SIGSTOP SIGSYS SIGTSTP SIGTTIN
    SIGTTOU SIGUSR1 SIGUSR2 SIGWINCH alarm getitimer pause pthread_kill pthread_sigmask setitimer siginterrupt
    sigpending sigtimedwait sigwait sigwaitinfo
""")
OF_MULTIPROCESSING = frozenset(
    ("Pool", "Process", "fork", "get_context")
)  # Linux forks by default until 3.14
FOLDERS = ("/bin/", "/dev/", "/etc/", "/home/", "/opt/", "/proc/", "/run/", "/sys/", "/tmp", "/usr/", "/var/")

KNOWS_ITS_SYSTEM = {
    "engine/models/finder.py: /etc/systemd/system": "read where it is a file",
    "engine/models/finder.py: /usr/share/ollama/.ollama/models": "one more place to look, if it is there",
    "engine/store/opening.py: /dev/shm": "used where it is a folder",
    "engine/system/paths.py: /proc/self/mountinfo": "read where it is a file",
}
"""What looks like a fault and is none, and why."""
FOR_LINUX = (
    "licences",
    "parts",
    "smoke_libraries",
    "smoke_places",
    "smoke_window",
    "smoke_wine",
    "vulkan_tools",
)
"""Scripts of `packaging/` that ask Debian's packages, X11 or folders of Linux, where these are there."""


class _Reader(ast.NodeVisitor):
    """Finds what only some systems have, outside of what a question about the system leads to."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self._asked = 0

    def visit_Import(self, node: ast.Import) -> None:
        self._add(*(alias.name for alias in node.names if alias.name.split(".")[0] in MODULES))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        imported = [f"{module}.{alias.name}" for alias in node.names]
        self._add(*(name for name in imported if module in MODULES or is_of_unix(*name.split(".")[:2])))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.value, ast.Name) and is_of_unix(node.value.id, node.attr):
            self._add(f"{node.value.id}.{node.attr}")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and node.value.startswith(FOLDERS):
            self._add(node.value)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring may name any folder
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        said = {keyword.arg for keyword in node.keywords}
        if "preexec_fn" in said:
            self._add("preexec_fn")
        as_text = {keyword.arg: keyword.value for keyword in node.keywords}.get("text")
        if isinstance(as_text, ast.Constant) and as_text.value is True and "encoding" not in said:
            self._add("text=True without an encoding")
        self.generic_visit(node)

    def visit_If(self, node: ast.If | ast.IfExp) -> None:
        self._where(asks_for_system(node.test), node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.visit_If(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self._where(asks_for_system(node.values[0]), node)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        before = self._asked
        for child in ast.iter_child_nodes(node):
            self.visit(child)
            if isinstance(child, ast.If) and asks_for_system(child.test) and leaves(child):
                self._asked += 1  # the rest is for the other systems
        self._asked = before

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)

    def _where(self, asked: bool, node: ast.AST) -> None:
        self._asked += asked
        self.generic_visit(node)
        self._asked -= asked

    def _add(self, *found: str) -> None:
        if not self._asked:
            self.found += found


def is_of_unix(module: str, name: str) -> bool:
    """Whether a name of a module is one that Windows lacks."""
    return name in {"os": OF_OS, "signal": OF_SIGNAL, "multiprocessing": OF_MULTIPROCESSING}.get(module, ())


def asks_for_system(test: ast.expr) -> bool:
    """Whether a condition is one about the system: `sys.platform == "win32"`."""
    return any(
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and f"{node.value.id}.{node.attr}" in {"sys.platform", "os.name"}
        for node in ast.walk(test)
    )


def leaves(branch: ast.If) -> bool:
    """Whether whoever takes a branch does not come to what is below it."""
    return isinstance(branch.body[-1], ast.Return | ast.Raise | ast.Continue)


def unportable(paths: Iterable[PurePosixPath]) -> set[str]:
    found: set[str] = set()
    for path in paths:
        reader = _Reader()
        reader.visit(syntax(path))
        found.update(f"{path}: {name}" for name in reader.found)
    return found


def test_the_program_uses_nothing_that_windows_lacks_and_every_exception_is_still_one() -> None:
    assert unportable(PROGRAM) == KNOWS_ITS_SYSTEM.keys()


def test_what_builds_and_tries_bundles_runs_on_windows_too() -> None:
    for_linux = " ".join(f"packaging/{name}.py" for name in FOR_LINUX)
    scripts = [path for path in sources("packaging") if not lies_in(path, for_linux)]
    assert scripts
    assert not unportable(scripts)
