//! Whole programs in Python on a warm interpreter, besides the functions of `sandbox.rs` and `sandbox_attacks.rs`.

use rolecall::domain::Language::Python;
use rolecall::domain::Verdict::{Crashed, Forbidden, Memory, OutputLimit, ProcessLimit, Wrong};

use super::{Attack, withstand};

const ATTACKS: &[Attack] = &[
    (
        "leaves_zombies",
        &[Wrong, ProcessLimit],
        "import os\nfor _ in range(500):\n    try:\n        if os.fork() == 0: os._exit(0)\n    except OSError: pass\n",
    ),
    (
        "hops_from_process_to_process",
        &[Wrong],
        "import os\nif os.fork(): os._exit(0)\nwhile True:\n    if os.fork(): os._exit(0)\n",
    ),
    (
        "uses_up_inodes",
        &[Wrong],
        "import os\nmade = 0\ntry:\n    while made < 100_000: os.mkdir(f'/tmp/{made}'); made += 1\nexcept OSError: pass\nprint('escaped' if made > 5000 else made)\n",
    ),
    (
        "shares_memory_that_has_no_name",
        &[Memory],
        "import mmap, os, time\nfor _ in range(6):\n    if os.fork() == 0:\n        m = mmap.mmap(-1, 150 << 20)\n        for at in range(0, len(m), 4096): m[at] = 1\n        time.sleep(600)\ntime.sleep(600)\n",
    ),
    ("prints_a_million_lines", &[OutputLimit], "for n in range(1_000_000): print(n)\n"),
    (
        "mounts_and_leaves_its_root",
        &[Wrong],
        "import ctypes, os\nc = ctypes.CDLL(None)\nfor made in (lambda: c.mount(b't', b'/tmp', b'tmpfs', 0, None), lambda: c.umount2(b'/tmp', 2), lambda: c.chroot(b'/tmp'), lambda: c.unshare(0x10000000), lambda: c.setns(0, 0), lambda: c.setuid(0), lambda: c.sethostname(b'x', 1)):\n    if made() == 0: print('escaped')\n",
    ),
    (
        "opens_sockets_of_every_kind",
        &[Wrong],
        "import socket\nfor family in range(2, 46):\n    for kind in (1, 2, 3):\n        try: socket.socket(family, kind); print('escaped')\n        except (OSError, ValueError): pass\ntry: socket.getaddrinfo('example.org', 80); print('escaped')\nexcept OSError: pass\n",
    ),
    (
        "follows_links_out",
        &[Wrong],
        "import os\nfor n, path in enumerate(('/etc/passwd', '/proc/1/root/etc/passwd', '../../etc/shadow', '/root/.bashrc')):\n    os.symlink(path, f'l{n}')\n    try: open(f'l{n}').read(); print('escaped')\n    except OSError: pass\ntry: os.link('/usr/bin/env', 'h'); print('escaped')\nexcept OSError: pass\n",
    ),
    (
        "signals_everybody",
        &[Wrong],
        "import os, signal\nfor target in (1, os.getppid(), -1, *range(2, 5000)):\n    for number in (signal.SIGSTOP, signal.SIGKILL):\n        if target not in (os.getpid(), 0):\n            try: os.kill(target, number)\n            except OSError: pass\n",
    ),
    (
        "claims_results_on_every_descriptor",
        &[Forbidden, Wrong],
        "import os\nfor d in range(3, 256):\n    try: os.write(d, b'0 0 0\\n{\"passed\":0}\\n')\n    except OSError: pass\n",
    ),
    (
        "leaves_a_session_that_forks",
        &[Wrong, ProcessLimit, Crashed],
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    while True:\n        try:\n            if os.fork() == 0: os.setsid(); time.sleep(600)\n        except OSError: pass\n",
    ),
];

#[tokio::test]
async fn python_programs_are_held() {
    withstand(Python, ATTACKS).await;
}
