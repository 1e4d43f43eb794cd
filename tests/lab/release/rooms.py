#!/usr/bin/env python3
"""Installs a release in places without Rust, a compiler or a checkout, uses it, and removes it again.

Each room is a root of its own, made by debootstrap: Debian 12, Debian 11 for its older glibc, and one without any libc. A
server on this machine stands for the registries. In each room the program prints its version, an editor and an agent
attach and accept a change, and afterwards no file is left behind.

Build the release first: cli/release/run --repository https://example.org/ide-mcp --from http://127.0.0.1:8765
Needs root, and debootstrap, qemu-user and wine, which it installs from Debian.

Run: tests/lab/release/rooms.py [CHECK…]    such as npm or windows
"""

import base64
import contextlib
import hashlib
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import threading
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
ROOMS = ROOT / "target/rooms"
PORT = 8765
HERE = f"http://127.0.0.1:{PORT}"
PATIENCE = 60
PATH = "/root/.local/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ENVIRONMENT = {"HOME": "/root", "PATH": PATH, "LANG": "C.UTF-8", "TERM": "xterm-256color", "PYTHONDONTWRITEBYTECODE": "1"}


def release():
    """Returns the folder of the newest release that was built, and its version."""
    found = sorted((path for path in (ROOT / "target/dist").glob("[0-9]*") if (path / "SHA256SUMS").exists()), key=lambda path: path.stat().st_mtime)
    if not found:
        sys.exit(f"no release was built; first run: cli/release/run --repository https://example.org/ide-mcp --from {HERE}")
    return found[-1], found[-1].name


# The registries.


class Registry(http.server.SimpleHTTPRequestHandler):
    """Serves the files of the release, the index of PyPI and the documents of npm."""

    def do_GET(self):
        if self.path == "/simple/ide-mcp/":
            return self.answer("".join(f'<a href="/{path.name}">{path.name}</a>\n' for path in DIST.glob("*.whl")), "text/html")
        archive = DIST / f"{self.path[1:]}-{VERSION}.tgz"
        if self.path.count("/") == 1 and archive.is_file():
            with tarfile.open(archive) as files:
                manifest = json.load(files.extractfile("package/package.json"))
            integrity = "sha512-" + base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
            manifest["dist"] = {"tarball": f"{HERE}/{archive.name}", "integrity": integrity}
            document = {"name": manifest["name"], "dist-tags": {"latest": VERSION}, "versions": {VERSION: manifest}}
            return self.answer(json.dumps(document), "application/json")
        super().do_GET()

    def answer(self, text, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serving():
    handler = lambda *arguments: Registry(*arguments, directory=DIST)
    with http.server.ThreadingHTTPServer(("127.0.0.1", PORT), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield
        server.shutdown()


# The rooms.


def debian(program, *packages):
    if not shutil.which(program):
        subprocess.run(["apt-get", "install", "--yes", "--quiet=2", "--no-install-recommends", *packages], check=True, stdout=subprocess.DEVNULL)


class Room:
    """A root in which commands run. `runner` precedes each command: nothing, an emulator or wine."""

    def __init__(self, root, runner=(), home="/root"):
        self.root, self.runner, self.home = root, list(runner), home

    def command(self, *command):
        return ["chroot", str(self.root), *self.runner, *command]

    def run(self, *command, cwd=None, **options):
        done = subprocess.run(self.command(*command), env=ENVIRONMENT, capture_output=True, text=True, timeout=10 * PATIENCE, **options)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def files(self):
        """Returns every file except the caches of package managers."""
        skipped = ("proc", "sys", "dev", "tmp", "root/.npm", "root/.cache", "var/cache", "var/log")
        kept = set()
        for folder, folders, names in os.walk(self.root):
            inside = os.path.relpath(folder, self.root)
            folders[:] = [name for name in folders if os.path.normpath(f"{inside}/{name}") not in skipped]
            kept |= {os.path.normpath(f"{inside}/{name}") for name in (*names, *folders)}
        return kept


@contextlib.contextmanager
def debian_room(suite):
    debian("debootstrap", "debootstrap")
    root = ROOMS / suite
    if not (root / "made").exists():
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(parents=True)
        quiet = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(["debootstrap", "--variant=minbase", suite, root, "http://deb.debian.org/debian"], **quiet)
        more = ["npm", "curl", "vim-nox"] if suite == "bookworm" else []
        install = ["apt-get", "install", "--yes", "--no-install-recommends", "ca-certificates", "python3-pip", "python3-venv", *more]
        subprocess.run(["chroot", root, *install], env={**ENVIRONMENT, "DEBIAN_FRONTEND": "noninteractive"}, **quiet)
        (root / "made").touch()
    for absent in ("cargo", "rustc", "gcc", "cc"):
        assert shutil.which(absent, path=os.pathsep.join(str(root) + folder for folder in PATH.split(":"))) is None, f"the room has {absent}"
    # Changes in the room go to a separate layer, which is discarded.
    layers = [ROOMS / name for name in ("changes", "work", "room")]
    for layer in layers:
        shutil.rmtree(layer, ignore_errors=True)
        layer.mkdir()
    changes, work, room = layers
    subprocess.run(["mount", "-t", "overlay", "overlay", "-o", f"lowerdir={root},upperdir={changes},workdir={work}", room], check=True)
    subprocess.run(["mount", "-t", "proc", "proc", room / "proc"], check=True)
    try:
        yield Room(room)
    finally:
        subprocess.run(["umount", "-l", room / "proc", room], check=True)


def attach(room, program):
    """An editor and an agent attach, and the editor accepts what the agent proposes."""
    assert room.run(program, "--version").strip() == f"ide-mcp {VERSION}"
    project = room.root / "root/project"
    project.mkdir(parents=True)
    (project / "a.txt").write_text("one\n")
    (project / "new.txt").write_text("two\n")
    editor = subprocess.Popen(room.command(program, "editor", "--headless", "--on-diff", "accept", "/root/project"), env=ENVIRONMENT, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert json.loads(editor.stdout.readline())["event"] == "listening"
        tools = room.run(program, "agent", "--cwd", "/root/project", "tools")
        assert "openDiff" in tools, tools
        room.run(program, "agent", "--cwd", "/root/project", "diff", "/root/project/a.txt", "/root/project/new.txt")
        assert (project / "a.txt").read_text() == "two\n", "the editor did not write what it accepted"
        editor.stdin.close()
        assert editor.wait(PATIENCE) == 0
    finally:
        editor.kill()
        shutil.rmtree(project)
    assert not list((room.root / "root/.claude/ide").glob("*.lock")), "the editor left its lock file"
    shutil.rmtree(room.root / "root/.claude")


def installed(room, install, remove, program="ide-mcp"):
    """Installs, attaches and removes, and checks that no file is left."""
    before = room.files()
    install()
    attach(room, program)
    remove()
    left = sorted(room.files() - before)
    assert not left, f"left behind: {', '.join(left[:10])}"


def archive(target, kind="tar.gz"):
    return DIST / f"ide-mcp-{VERSION}-{target}.{kind}"


def nothing():
    """The static program in a root that has nothing but it"""
    root = ROOMS / "nothing"
    shutil.rmtree(root, ignore_errors=True)
    (root / "root").mkdir(parents=True)
    (root / "tmp").mkdir()
    with tarfile.open(archive("x86_64-unknown-linux-musl")) as files:
        (root / "ide-mcp").write_bytes(files.extractfile(f"ide-mcp-{VERSION}-x86_64-unknown-linux-musl/ide-mcp").read())
    (root / "ide-mcp").chmod(0o755)
    attach(Room(root), "/ide-mcp")


def aarch64():
    """The program for aarch64, under qemu"""
    debian("qemu-aarch64", "qemu-user")
    root = ROOMS / "aarch64"
    shutil.rmtree(root, ignore_errors=True)
    (root / "root").mkdir(parents=True)
    (root / "tmp").mkdir()
    with tarfile.open(archive("aarch64-unknown-linux-musl")) as files:
        files.extractall(root, filter="data")

    class Emulated(Room):
        def command(self, *command):
            return ["unshare", "--mount", "sh", "-c", 'mount --bind "$0/root" /root && exec "$@"', str(root), "qemu-aarch64", *command]

    program = root / f"ide-mcp-{VERSION}-aarch64-unknown-linux-musl/ide-mcp"
    attach(Emulated(root), str(program))


def tar():
    """The archive, unpacked by tar"""
    with debian_room("bookworm") as room:
        name = f"ide-mcp-{VERSION}-x86_64-unknown-linux-musl"
        unpack = f"curl -fsS {HERE}/{name}.tar.gz | tar -xzC /root"
        installed(room, lambda: room.run("sh", "-c", unpack), lambda: room.run("rm", "-r", f"/root/{name}"), f"/root/{name}/ide-mcp")


def sh():
    """install.sh, downloaded and run by sh; and a download that somebody has changed"""
    with debian_room("bookworm") as room:
        fetch = f"curl -fsS {HERE}/install.sh"
        installed(room, lambda: room.run("sh", "-c", f"{fetch} | sh"), lambda: room.run("sh", "-c", f"{fetch} | sh -s -- --uninstall"))
        # Installs twice, and over a program that is running.
        room.run("sh", "-c", f"{fetch} | sh")
        room.run("sh", "-c", f"{fetch} | sh")
        room.run("sh", "-c", f"{fetch} | sh -s -- --uninstall")
        before = room.files()
        (room.root / "root/other").mkdir()
        name = archive("x86_64-unknown-linux-musl").name
        (room.root / "root/other" / name).write_bytes(archive("x86_64-unknown-linux-musl").read_bytes() + b"\0")
        other = subprocess.run(room.command("sh", "-c", f"{fetch} | IDE_MCP_FROM=file:///root/other sh"), env=ENVIRONMENT, capture_output=True, text=True)
        shutil.rmtree(room.root / "root/other")
        assert other.returncode == 1 and "not the archive of this release" in other.stderr, other
        assert room.files() == before
        hostile(room, fetch)


# Situations for install.sh: its PREFIX, commands to run before it, and commands to run after it, which fail unless all
# is well.
HOSTILE = {
    "relative prefix": ("here", "touch mine", "[ -x here/bin/ide-mcp ]; cd /; PREFIX=/root/case/here"),
    "line break in the prefix": ("/root/case/mine\n/root/case/mine", "echo >mine", ""),
    "slash after the prefix": ("/root/case/empty/prefix/", "mkdir empty; touch mine", ""),
    "file of the user next to the program": ("/root/case", "mkdir bin; touch bin/mine mine", ""),
    "file that only an earlier version had": (
        "/root/case", "mkdir -p share/ide-mcp; echo share/old >share/ide-mcp/installed; touch share/old mine", "[ ! -e share/old ]"),
    "four at once": ("/root/case", "touch mine; all=; for _ in 1 2 3 4; do $INSTALL >/dev/null & all=\"$all $!\"; done; for each in $all; do wait $each; done", ""),
    "umask 000": ("/root/case", "umask 000; touch mine", '[ -z "$(find bin share -perm /022)" ]'),
}
# Situations that it refuses: commands to run before it, and its message.
REFUSED = {
    "program from elsewhere": ("mkdir bin; echo mine >bin/ide-mcp", "is not from this script"),
    "folder instead of a man page": ("mkdir -p share/man/man1/ide-mcp.1", "is a folder"),
    "program that cannot start": ("mkdir bin; mount -t tmpfs -o noexec none bin", "does not start here"),
}


def hostile(room, fetch):
    """Installs and removes in each of these situations: the user's files stay, and nothing else does."""
    case = room.root / "root/case"
    install = f"{fetch} >/root/install.sh; export INSTALL='sh /root/install.sh'; cd /root/case"

    def sh(text, prefix="/root/case"):
        command = room.command("unshare", "--mount", "sh", "-euc", f"{install}; {text}")
        return subprocess.run(command, env={**ENVIRONMENT, "PREFIX": prefix}, capture_output=True, text=True, timeout=PATIENCE)

    for name, (prefix, first, then) in HOSTILE.items():
        case.mkdir()
        done = sh(f"{first}\n$INSTALL >/dev/null\n{then}\n$INSTALL --uninstall >/dev/null; find /root/case ! -type d", prefix)
        others = [path for path in done.stdout.split() if not path.endswith("mine")]
        assert done.returncode == 0 and not others and "mine" in done.stdout, f"{name}: {done}"
        assert name != "slash after the prefix" or (case / "empty").is_dir(), f"{name}: a folder above the prefix is gone"
        shutil.rmtree(case)
    for name, (first, message) in REFUSED.items():
        case.mkdir()
        done = sh(f"{first}\n$INSTALL")
        assert done.returncode == 1 and message in done.stderr, f"{name}: {done}"
        sh("$INSTALL --uninstall")
        left = [path for path in case.rglob("*") if path.is_file() and path.read_text() != "mine\n"]
        assert not left, f"{name}: left behind: {left}"
        shutil.rmtree(case)


def pip(suite="bookworm"):
    """The wheel, installed by pip in a virtual environment"""
    with debian_room(suite) as room:
        def install():
            room.run("python3", "-m", "venv", "/root/venv")
            room.run("/root/venv/bin/pip", "install", "--quiet", "--no-cache-dir", "--index-url", f"{HERE}/simple", "ide-mcp")

        def remove():
            room.run("/root/venv/bin/pip", "uninstall", "--quiet", "--yes", "ide-mcp")
            assert not (room.root / "root/venv/bin/ide-mcp").exists()
            room.run("rm", "-r", "/root/venv")

        installed(room, install, remove, "/root/venv/bin/ide-mcp")


def pip_bullseye():
    """The wheel, with the glibc of Debian 11"""
    pip("bullseye")


def npm():
    """The npm package, which installs the one for this system"""
    with debian_room("bookworm") as room:
        command = ["npm", "--registry", HERE, "--no-audit", "--no-fund", "--no-update-notifier", "--prefix", "/root/.local", "--global"]
        # Folders of npm itself, which it never removes.
        for folder in ("bin", "lib/node_modules", "share"):
            (room.root / "root/.local" / folder).mkdir(parents=True, exist_ok=True)
        installed(room, lambda: room.run(*command, "install", "ide-mcp"), lambda: room.run(*command, "uninstall", "ide-mcp"))
        # Without the optional package, the program must say what is missing.
        room.run("npm", "--registry", HERE, "--no-audit", "--no-fund", "--prefix", "/root/without", "--omit=optional", "install", "ide-mcp")
        without = subprocess.run(room.command("node", "/root/without/node_modules/ide-mcp/ide-mcp.js"), env=ENVIRONMENT, capture_output=True, text=True)
        assert without.returncode == 1 and "--omit=optional" in without.stderr, without
        # Node has execve on Windows too, where it throws, and elsewhere it ends node if it fails.
        for system, mode, expected in (("win32", 0o755, "started\n"), ("linux", 0o644, "cannot be started")):
            program = room.root / f"root/without/node_modules/ide-mcp-{system}-x64/bin" / ("ide-mcp.exe" if system == "win32" else "ide-mcp")
            program.parent.mkdir(parents=True)
            program.write_text("#!/bin/sh\necho started\n")
            program.chmod(mode)
            (room.root / "root/without/as.js").write_text(f"""Object.defineProperty(process, "platform", {{ value: "{system}" }});
Object.defineProperty(process, "arch", {{ value: "x64" }});
process.execve = () => {{ throw new Error("execve was called"); }};
""")
            command = room.command("node", "--require", "/root/without/as.js", "/root/without/node_modules/ide-mcp/ide-mcp.js")
            done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True)
            assert expected in done.stdout + done.stderr, done


def vim():
    """The plugin that the program installs, in the real Vim: a person accepts a change"""
    debian("tmux", "tmux")
    with debian_room("bookworm") as room:
        room.run("sh", "-c", f"curl -fsS {HERE}/install.sh | sh")
        room.run("ide-mcp", "plugin", "vim")
        project = room.root / "root/project"
        project.mkdir(exist_ok=True)
        (project / "a.txt").write_text("one\n")
        (project / "new.txt").write_text("two\n")
        socket = str(ROOMS / "tmux")
        tmux = lambda *command: subprocess.run(["tmux", "-S", socket, *command], check=True, capture_output=True, text=True, timeout=PATIENCE).stdout
        variables = [f"{name}={value}" for name, value in ENVIRONMENT.items()]
        tmux("-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "35", "env", "-i", *variables, *room.command("sh", "-c", "cd /root/project && exec vim a.txt"))
        try:
            until(lambda: list((room.root / "root/.claude/ide").glob("*.lock")), "Vim published no lock file")
            agent = subprocess.Popen(room.command("ide-mcp", "agent", "--cwd", "/root/project", "diff", "a.txt", "/root/project/new.txt"), env=ENVIRONMENT, text=True, stdout=subprocess.PIPE)
            until(lambda: "two" in tmux("capture-pane", "-p"), "Vim showed no change")

            def accepted():
                # The plugin accepts nothing at once, because the key could have been meant for something else.
                tmux("send-keys", ":w", "Enter")
                time.sleep(1)
                return agent.poll() is not None

            until(accepted, "the change was not accepted")
            assert agent.returncode == 0, agent.returncode
            tmux("send-keys", ":qa!", "Enter")
            until(lambda: not list((room.root / "root/.claude/ide").glob("*.lock")), "Vim left its lock file")
        finally:
            subprocess.run(["tmux", "-S", socket, "kill-server"], capture_output=True)
        room.run("ide-mcp", "plugin", "vim", "--remove")
        room.run("sh", "-c", f"curl -fsS {HERE}/install.sh | sh -s -- --uninstall")
        shutil.rmtree(project)


def windows():
    """The archive for Windows, by the steps of install.ps1, under wine"""
    prefix = pathlib.Path(subprocess.run([ROOT / "tests/lab/platforms/wine.sh"], check=True, stdout=subprocess.PIPE, text=True, umask=0o077).stdout.strip())
    sums = dict(reversed(line.split()) for line in (DIST / "SHA256SUMS").read_text().splitlines())
    name = archive("x86_64-pc-windows-gnu", "zip").name
    script = (DIST / "install.ps1").read_text()
    assert f"{sums[name]} x86_64-pc-windows-gnu" in script, "install.ps1 has another sum"
    into = prefix / "drive_c/users/root/AppData/Local/Programs/ide-mcp"
    shutil.rmtree(into, ignore_errors=True)
    with zipfile.ZipFile(archive("x86_64-pc-windows-gnu", "zip")) as files:
        files.extractall(into.parent)
    (into.parent / name.removesuffix(".zip")).rename(into)
    program = into / "ide-mcp.exe"
    environment = {**os.environ, "WINEPREFIX": str(prefix), "WINEDEBUG": "-all"}
    found = subprocess.run(["wine", program, "--version"], env=environment, capture_output=True, text=True, timeout=PATIENCE, umask=0o077)
    assert found.stdout.strip() == f"ide-mcp {VERSION}", found
    subprocess.run([ROOT / "tests/lab/platforms/windows_program.sh"], env={**environment, "PROGRAM": str(program)}, check=True, timeout=10 * PATIENCE)
    shutil.rmtree(into)


def until(true, failure):
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, failure
        time.sleep(0.1)


CHECKS = {room.__name__: room for room in (nothing, aarch64, tar, sh, pip, pip_bullseye, npm, vim, windows)}


def main():
    failed = []
    unknown = [name for name in sys.argv[1:] if name not in CHECKS]
    if unknown:
        sys.exit(f"rooms.py: no check is called {unknown[0]}; there are {', '.join(CHECKS)}")
    with serving():
        for name in sys.argv[1:] or CHECKS:
            begin = time.monotonic()
            try:
                CHECKS[name]()
                print(f"ok   {name}: {CHECKS[name].__doc__} ({time.monotonic() - begin:.0f} s)", flush=True)
            except (AssertionError, OSError, subprocess.SubprocessError) as error:
                failed.append(name)
                print(f"FAIL {name}: {CHECKS[name].__doc__}: {error}", flush=True)
    print(f"\n{DIST.relative_to(ROOT)}: {len(failed)} failed" if failed else "\nall passed")
    sys.exit(bool(failed))


if "--help" in sys.argv:
    sys.exit(print(__doc__.strip()))
DIST, VERSION = release()
if __name__ == "__main__":
    main()
