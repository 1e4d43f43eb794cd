#!/usr/bin/env python3
"""Installs the plugins of a release as people do, from repositories and a server on this machine, and has each fetch the program.

At the first start there are no settings and no program. Then the plugin fetches the program, an agent attaches and
receives a mention, and the program is removed again without a trace. The plugin refuses anything except the archive of
the release. Neither a refusal nor an editor that ends during the download leaves anything behind.

Build the release first: cli/release/run --from http://127.0.0.1:8765
Needs tmux, git, curl, Debian's editors, and the newest ones: tests/lab/editors/newer.sh nvim emacs

Run: tests/lab/release/plugins.py [CHECK…]    such as vim_clone or vim_clone_refuses
"""

import contextlib
import hashlib
import http.server
import io
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/lab/editors"), str(ROOT / "tests/lab/release")]

import emacs
import nvim
import run
import vim
from hostile import of_row
from rooms import DIST, VERSION
from run import Failure, await_, pushed

TARGET = f"{os.uname().machine}-unknown-linux-musl"
ARCHIVE = f"ide-mcp-{VERSION}-{TARGET}.tar.gz"
NEWER = ROOT / "target/newer/bin"
RELEASE = json.loads((DIST / "plugins/ide-mcp.nvim/release.json").read_text())
HERE, SUMS = RELEASE.get("base", ""), RELEASE.get("sums", {})


# The server.


class Server(http.server.SimpleHTTPRequestHandler):
    """Serves the files of the release, except those that a row changes."""

    changed = {}
    lets_go = threading.Event()  # an answer waits for it

    def do_GET(self):
        self.lets_go.wait(run.PATIENCE)
        with contextlib.suppress(ConnectionError):  # an editor that has ended
            self.answer()

    def answer(self):
        if self.path not in self.changed:
            return super().do_GET()
        data = self.changed[self.path]
        if data is None:
            return self.send_error(404)
        self.send_response(200)
        # The curl of Debian 12 applies its limit to this size only.
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serving(data):
    """Makes the server answer with this instead of the archive, or not at all."""
    Server.changed = {f"/{ARCHIVE}": data}
    try:
        yield
    finally:
        Server.changed = {}


def packed(script):
    """Returns an archive whose program is a script."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as files:
        entry = tarfile.TarInfo(f"{ARCHIVE.removesuffix('.tar.gz')}/ide-mcp")
        entry.size, entry.mode = len(script), 0o755
        files.addfile(entry, io.BytesIO(script))
    return out.getvalue()


# How a person can install a plugin. Each returns the command of the editor.


def git(*command):
    return subprocess.run(["git", *command], check=True, capture_output=True, text=True).stdout


def repository(name, home):
    """Publishes the archive of a plugin in a bare repository, as a maintainer does. Returns its URL."""
    made = home / f"{name}.git"
    git("init", "--quiet", "--bare", "--initial-branch=main", str(made))
    with tempfile.TemporaryDirectory() as work, tarfile.open(DIST / f"{name}-{VERSION}.tar.gz") as files:
        files.extractall(work, filter="data")
        tree = ["--git-dir", str(made), "--work-tree", str(pathlib.Path(work) / name)]
        git(*tree, "add", "--all")
        git(*tree, "-c", "user.name=A Person", "-c", "user.email=person@example.org", "commit", "--quiet", "--message", VERSION)
        git(*tree, "tag", f"v{VERSION}")
    return f"file://{made}"


def file(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def vim_pack(home):
    """`vim.pack` of Neovim 0.12"""
    init = file(home / ".config/nvim/init.lua", f"vim.pack.add({{ '{repository('ide-mcp.nvim', home)}' }}, {{ confirm = false }})\n")
    return [str(NEWER / "nvim"), "-u", str(init)]


def nvim_clone(home):
    """A clone in a package folder of Debian's Neovim"""
    git("clone", "--quiet", repository("ide-mcp.nvim", home), str(home / ".local/share/nvim/site/pack/ide-mcp/start/ide-mcp.nvim"))
    return ["nvim"]


def lazy(home, load):
    place = home / ".local/share/nvim/lazy/ide-mcp.nvim"
    git("clone", "--quiet", repository("ide-mcp.nvim", home), str(place))
    load = f"""vim.go.loadplugins = false
local function load()
  vim.opt.rtp:prepend('{place}')
  vim.cmd.source('{place}/plugin/ide-mcp.lua')
{load}"""
    file(home / ".config/nvim/init.lua", load)
    return [str(NEWER / "nvim")]


def lazy_opts(home):
    """The folders and the steps of lazy.nvim, with `opts`"""
    return lazy(home, "  require('ide-mcp').setup({})\nend\nload()\n")


def lazy_event(home):
    """The folders and the steps of lazy.nvim, with `event = 'VeryLazy'`"""
    return lazy(home, "end\nvim.api.nvim_create_autocmd('UIEnter', { callback = function() vim.schedule(load) end })\n")


def vim_clone(home):
    """A clone in a package folder of Vim"""
    git("clone", "--quiet", repository("ide-mcp.vim", home), str(home / ".vim/pack/ide-mcp/start/ide-mcp.vim"))
    return ["vim"]


def vim_later(home):
    """The archive in a package folder of Vim, loaded after the start"""
    place = home / ".vim/pack/ide-mcp/opt"
    place.mkdir(parents=True)
    with tarfile.open(DIST / f"ide-mcp.vim-{VERSION}.tar.gz") as files:
        files.extractall(place, filter="data")
    file(home / ".vim/vimrc", "func Later(_)\n  packadd ide-mcp.vim\nendfunc\nautocmd VimEnter * call timer_start(200, 'Later')\n")
    return ["vim"]


def package_file(home):
    """`package-install-file` of Debian's Emacs"""
    package = DIST / f"ide-mcp-{VERSION}.tar"
    subprocess.run(["emacs", "--batch", "--eval", f'(package-install-file "{package}")'], check=True, capture_output=True, env={**os.environ, "HOME": str(home)})
    return ["emacs", "-nw"]


def use_package(home):
    """`use-package :vc` of Emacs 30"""
    file(home / ".emacs.d/init.el", f'(use-package ide-mcp :vc (:url "{repository("ide-mcp.el", home)}"))\n')
    return [str(NEWER / "emacs"), "-nw"]


@dataclass(frozen=True)
class Kind:
    """What the ways to install the plugin of one editor share: the keys of a person, and the folder of the program."""

    keys: object
    install: list
    uninstall: list
    mention: list
    first: list  # at the first start, where the plugin must say that the program is missing
    folder: str


VI = ["<Escape>", ":IdeMcp install", "<Enter>"], ["<Escape>", ":IdeMcp uninstall", "<Enter>"], vim.MENTION_FILE, ["<Escape>", ":messages", "<Enter>"]
NVIM = Kind(nvim, *VI, ".local/share/nvim/ide-mcp")
VIM = Kind(vim, *VI, ".local/share/vim-ide-mcp")
EMACS = Kind(emacs, emacs.run("ide-mcp-install"), emacs.run("ide-mcp-uninstall"), emacs.MENTION_FILE, emacs.MENTION_FILE, ".emacs.d/ide-mcp-program")

WAYS = {vim_pack: NVIM, nvim_clone: NVIM, lazy_opts: NVIM, lazy_event: NVIM, vim_clone: VIM, vim_later: VIM, package_file: EMACS, use_package: EMACS}


class Desk(run.Room):
    """An editor in a terminal, whose plugin was installed in one of these ways. The program is not in PATH."""

    def __init__(self, way, kind, home):
        super().__init__(kind.keys, home)
        self.kind = kind
        self.environment = {**self.environment, "PATH": "/usr/local/bin:/usr/bin:/bin", "TMPDIR": str(home / "tmp")}
        (home / "tmp").mkdir()
        self.command = way(home)

    def open(self):
        variables = [f"{name}={value}" for name, value in self.environment.items()]
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "30", "-c", str(self.folder), "env", "-i", *variables, *self.command, "a.txt")
        self.shows("second")

        def reports_it():
            self.type(*self.kind.first)
            time.sleep(1)
            return re.search(r"ide-mcp is not in PATH: .*[Ii]de-?[Mm]cp.install", self.screen())

        await_("the plugin says that the program is missing", reports_it)
        if self.kind is EMACS:
            time.sleep(3)  # after M-x, a suggestion takes the keys for two seconds

    def folder_of_program(self):
        return self.home / self.kind.folder

    def installs(self, message):
        self.evaluate("echo 'no message'", '(message "no message")')
        self.shows('^"?no message')
        self.type(*self.kind.install)
        self.shows(message)

    def has_nothing(self):
        """Checks that nothing of the program is left, neither in its folder nor of the download."""
        await_("the download is removed", lambda: not [path for path in (self.home / "tmp").rglob("*") if re.match("archive$|ide-mcp", path.name)])
        if self.folder_of_program().exists():
            raise Failure(f"left behind: {sorted(self.folder_of_program().rglob('*'))}")

    def release(self, **members):
        """Gives the plugin another release, as a plugin manager does in an update."""
        release = {"version": VERSION, "base": HERE, "sums": SUMS, **members}
        if self.kind is EMACS:
            sums = " ".join(f'("{target}" . "{value}")' for target, value in release["sums"].items())
            base = f'"{release["base"]}"' if release["base"] else "nil"
            return self.type(*emacs.run(f'(setq ide-mcp--release (quote (:version "{release["version"]}" :base {base} :sums ({sums}))))'))
        if not release["base"]:
            del release["base"]
        next(path for path in self.home.rglob("release.json") if ".git" not in path.parts).write_text(json.dumps(release))

    def evaluate(self, vi, lisp):
        self.type(*(emacs.run(lisp) if self.kind is EMACS else ["<Escape>", f":{vi}", "<Enter>"]))


def installed(desk):
    """The program is fetched, serves, and is removed; the tree of the plugin stays as it was published."""
    desk.open()
    desk.installs(rf"(?i:installed) {re.escape(VERSION)} in ~/{desk.kind.folder}")
    desk.type(*desk.kind.mention)  # which starts the plugin of Emacs
    desk.lock()
    desk.play(pushed("at_mentioned", {"filePath": desk.path("a.txt")})).done()
    desk.installs(rf"(?i:installed) {re.escape(VERSION)}.*(To use it, stop and start|ide-mcp-mode twice starts it)")  # again, while it runs
    desk.type(*desk.kind.uninstall)
    desk.shows(r"emoved .*ide-mcp")
    desk.no_lock()
    desk.has_nothing()
    for place in desk.home.rglob(".git"):
        if changed := git("-C", str(place.parent), "status", "--porcelain", "--untracked-files=no"):
            raise Failure(f"a plugin manager finds changes in {place.parent}: {changed}")


BROKEN, OTHER = packed(b"#!/bin/sh\nexit 3\n"), packed(b"#!/bin/sh\necho ide-mcp 9.9.9\n")
GONE = packed(f'#!/bin/sh\nrm "$0"\necho ide-mcp {VERSION}\n'.encode())  # once it has started


def sums_of(data):
    return {TARGET: hashlib.sha256(data).hexdigest()}


# What the server has instead of the archive, what the plugin has instead of its release, and the message.
FAULTS = {
    "archive with an extra byte": ((DIST / ARCHIVE).read_bytes() + b"\0", {}, "not the archive of this release"),
    "archive above 64 MiB": (bytes((64 << 20) + 1), {}, r"try again, the download failed: curl: \(63\)"),
    "archive of another release": (OTHER, {}, "not the archive of this release"),
    "no archive": (None, {}, r"try again, the download failed: curl: \(22\)"),
    "no server": (b"", {"base": "http://127.0.0.1:1"}, r"try again, the download failed: curl: \(7\)"),
    "not an archive, although its sum is right": (b"text", {"sums": sums_of(b"text")}, "the archive cannot be unpacked: .*tar"),
    "program that does not start": (BROKEN, {"sums": sums_of(BROKEN)}, "run cargo install ide-mcp-cli: it does not start here"),
    "program of another version": (OTHER, {"sums": sums_of(OTHER)}, r"start here: ide-mcp 9\.9"),
    "no program for this system": (b"", {"sums": {}}, rf"[Rr]un cargo install ide-mcp-cli: the release has no program for {os.uname().machine}"),
    "no release": (b"", {"base": None}, "[Tt]his (plugin|package) is not from a release"),
}


def refused(desk):
    """Nothing is installed, and the plugin says why; the program that was there stays."""
    desk.open()
    for name, (data, members, message) in FAULTS.items():
        def act(data=data, members=members, message=message):
            desk.release(**members)
            with serving(data):
                desk.installs(message)
            desk.has_nothing()
        of_row(name, act)
    desk.release()
    desk.evaluate("let $PATH = '/usr/local/sbin'", '(setq exec-path (list "/usr/local/sbin"))')
    desk.installs("(?i:install) curl first")
    desk.has_nothing()
    desk.evaluate("let $PATH = '/usr/bin:/bin'", '(setq exec-path (list "/usr/bin" "/bin"))')

    desk.installs(f"(?i:installed) {VERSION}")
    program = desk.folder_of_program() / ("ide-mcp" if desk.kind is EMACS else "bin/ide-mcp")
    before = program.stat()
    for data, message in [(BROKEN, "start here"), (GONE, "(?i:not installed)")]:
        desk.release(sums=sums_of(data))
        with serving(data):
            desk.installs(message)
        after = program.stat()
        if (before.st_ino, before.st_mtime_ns) != (after.st_ino, after.st_mtime_ns) or len(list(program.parent.iterdir())) != 1:
            raise Failure("the program that was there has changed")
    # A program that cannot be replaced, as on Windows one that runs, is moved aside.
    program.unlink()
    (program / "runs").mkdir(parents=True)
    desk.release()
    desk.installs(f"(?i:installed) {VERSION}")
    if not program.is_file() or [path.name[:4] for path in program.parent.iterdir() if path != program] != ["old-"]:
        raise Failure(f"the program is not replaced: {sorted(program.parent.rglob('*'))}")
    desk.type(*desk.kind.uninstall)
    desk.shows("emoved .*ide-mcp")

    # If the server does not answer, keys still work, and when the editor ends, nothing is left behind.
    desk.release()
    Server.lets_go.clear()
    try:
        desk.installs("etching")
        desk.installs("already being fetched")
        desk.type(*desk.keys.INSERT_LINE)
        desk.shows("edited", 2)
        if any(desk.home.joinpath("tmp").rglob("archive")):
            raise Failure("the answer has already arrived")
        editor = desk.pid()
        desk.evaluate("qa!", "(kill-emacs)")
        await_("the editor ends", lambda: not run.words_of(editor))
        desk.has_nothing()
    finally:
        Server.lets_go.set()


CHECKS = {
    **{way.__name__: (installed, way) for way in WAYS},
    **{f"{way.__name__}_refuses": (refused, way) for way in (vim_pack, nvim_clone, vim_clone, package_file)},
}


def play(check, way):
    """Plays a check, and returns what went wrong."""
    home = pathlib.Path(tempfile.mkdtemp(prefix="ide-mcp-plugin-"))
    desk = None
    try:
        desk = Desk(way, WAYS[way], home)
        check(desk)
        return None
    except (Failure, OSError, subprocess.SubprocessError) as error:
        output = getattr(error, "stderr", b"")
        return f"{error}\n{output}\n{desk.screen() if desk else ''}"
    finally:
        if desk:
            desk.end()
        shutil.rmtree(home, ignore_errors=True)


def main():
    if unknown := [name for name in sys.argv[1:] if name not in CHECKS]:
        sys.exit(f"plugins.py: no check is called {unknown[0]}; there are {', '.join(CHECKS)}")
    port = re.fullmatch(r"http://127\.0\.0\.1:(\d+)", HERE)
    if not port or SUMS.get(TARGET) != hashlib.sha256((DIST / ARCHIVE).read_bytes()).hexdigest():
        sys.exit("plugins.py: build the release of this checkout first: cli/release/run --from http://127.0.0.1:8765, or with another port")
    failed = 0
    with tempfile.TemporaryDirectory() as agent, http.server.ThreadingHTTPServer(("127.0.0.1", int(port[1])), lambda *given: Server(*given, directory=DIST)) as server:
        with tarfile.open(DIST / ARCHIVE) as files:
            files.extractall(agent, filter="data")
        run.PROGRAM = pathlib.Path(agent) / ARCHIVE.removesuffix(".tar.gz") / "ide-mcp"
        Server.lets_go.set()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for name in sys.argv[1:] or CHECKS:
            check, way = CHECKS[name]
            begin = time.monotonic()
            problem = play(check, way)
            print(f"{'FAIL' if problem else 'ok  '} {time.monotonic() - begin:5.1f} s  {name}: {way.__doc__}", flush=True)
            if problem:
                failed += 1
                print("     " + problem.replace("\n", "\n     "), flush=True)
        server.shutdown()
    print(f"{len(sys.argv[1:] or CHECKS) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    os.environ.pop("TMUX", None)
    main()
