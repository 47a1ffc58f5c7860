//! Programs in JavaScript, besides those of `languages`.

use rolecall::domain::Language::JavaScript;
use rolecall::domain::Verdict::{
    Crashed, FileLimit, Forbidden, Memory, OutputLimit, ProcessLimit, TimeoutCpu, UnsupportedReturn, Wrong,
};

use super::{Attack, withstand, withstand_tested};

const WHOLE: &[Attack] = &[
    (
        "starts_processes_without_end",
        &[Wrong, Crashed, ProcessLimit, Memory, TimeoutCpu],
        "const { spawn } = require('child_process'); for (let n = 0; n < 400; n++) spawn('/bin/sleep', ['600'], { detached: true, stdio: 'ignore' }).on('error', () => {}).unref()",
    ),
    (
        "starts_workers_without_end",
        &[Crashed, Memory, ProcessLimit, TimeoutCpu],
        "const { Worker } = require('worker_threads'); for (;;) new Worker('for (;;);', { eval: true })",
    ),
    ("prints_without_end", &[OutputLimit], "const fs = require('fs'); for (;;) fs.writeSync(2, 'y'.repeat(4096))"),
    (
        "fills_the_disk",
        &[FileLimit, Crashed, Wrong],
        "const fs = require('fs'); const b = Buffer.alloc(8 << 20); let n = 0; for (let k = 0; k < 100; k++) { fs.writeFileSync('/tmp/' + k, b); n++ } if (n > 20) console.log('escaped')",
    ),
    (
        "opens_connections",
        &[Wrong, Crashed],
        "const net = require('net'); for (const port of [22, 80]) net.connect(port, '127.0.0.1').on('connect', () => console.log('escaped')).on('error', () => {}); net.createServer().listen(0).on('listening', () => { console.log('escaped'); process.exit() }).on('error', () => {}); require('dns').lookup('example.org', (e) => e || console.log('escaped'))",
    ),
    (
        "reads_and_links_what_is_outside",
        &[Wrong],
        "const fs = require('fs'); for (const p of ['/etc/passwd', '/proc/self/mem', '/proc/1/environ', '/root/.bashrc', '/dev/fd/3', '../../etc/shadow']) try { fs.symlinkSync(p, 'l'); fs.readFileSync('l'); console.log('escaped') } catch { } finally { fs.rmSync('l', { force: true }) } for (const f of [() => fs.linkSync('/usr/bin/env', 'h'), () => fs.writeFileSync('/usr/x', ''), () => fs.writeFileSync('/x', '')]) try { f(); console.log('escaped') } catch { }",
    ),
    (
        "reaches_into_the_runtime",
        &[Wrong, Crashed],
        "for (const name of ['spawn_sync', 'pipe_wrap', 'tcp_wrap', 'fs']) try { const b = process.binding(name); if (name === 'tcp_wrap') { const t = new b.TCP(0); if (t.bind('127.0.0.1', 0) === 0 && t.listen(1) === 0) console.log('escaped') } } catch { } try { process.kill(1, 'SIGKILL'); process.kill(process.ppid, 'SIGSTOP') } catch { } try { process.setuid(0); console.log('escaped') } catch { }",
    ),
    (
        "inspects_itself",
        &[Wrong, Crashed],
        "const i = require('inspector'); try { i.open(0, '127.0.0.1'); if (i.url()) console.log('escaped') } catch { } process.exit()",
    ),
    (
        "never_ends_in_ticks",
        &[TimeoutCpu],
        "const again = () => process.nextTick(again); again(); process.on('SIGTERM', () => {}); process.on('uncaughtException', () => {})",
    ),
    ("throws_a_huge_message", &[Crashed, OutputLimit, Memory], "throw new Error('\\ud800'.repeat(5e7))"),
];

const TESTS: &str = "console.assert(f(4) === 8)\nconsole.assert(f(1) === 2)\n";

const FORGING: &[Attack] = &[
    (
        "leaves_in_an_exit_handler",
        &[Crashed, Wrong],
        "process.on('exit', () => { process.exitCode = 0; process.reallyExit(0) })\nconst f = (n) => process.reallyExit(0)",
    ),
    (
        "leaves_on_a_timer",
        &[Crashed, Wrong],
        "setTimeout(() => process.exit(0))\nconst f = (n) => { const end = Date.now() + 50; while (Date.now() < end); return 0 }",
    ),
    (
        "leaves_in_a_finalizer",
        &[Wrong, Crashed],
        "const r = new FinalizationRegistry(() => process.exit(0))\nconst f = (n) => { for (let k = 0; k < 1e5; k++) r.register({}, 1); return 0 }",
    ),
    (
        "has_prototypes_that_are_polluted",
        &[Wrong],
        "Object.prototype.verdict = 'passed'; Object.prototype.passed = 0; Array.prototype.map = () => []; Function.prototype.call = () => true; Number.prototype.valueOf = () => 8; Object.is = () => true; console.assert = () => {}; globalThis.console = null\nconst f = (n) => 0",
    ),
    (
        "patches_what_the_harness_is_made_of",
        &[Wrong, Crashed, Forbidden],
        "const fs = require('fs'); const real = fs.writeSync; fs.writeSync = (d, s, ...r) => real(d, d === 3 ? '{\"passed\":0}\\n{\"passed\":1}\\n{\"end\":true}\\n' : s, ...r); Buffer.from = null; JSON.parse = () => ({}); Map.prototype.get = () => 8\nconst f = (n) => 0",
    ),
    (
        "walks_the_stack",
        &[Wrong, Crashed, UnsupportedReturn],
        "Error.prepareStackTrace = (e, sites) => { for (const s of sites) { const g = s.getFunction?.(); if (g) try { g('passed', 0) } catch { } } return sites }\nconst f = (n) => { new Error().stack; for (let c = f.caller; c; c = c.caller) try { c.arguments[0] = 8 } catch { } return 0 }",
    ),
    (
        "returns_a_number_that_is_an_object",
        &[Wrong, UnsupportedReturn],
        "const f = (n) => Object.assign(new Number(8), { valueOf: () => 2 * n + 1 })",
    ),
    (
        "looks_for_the_tests_in_required_modules",
        &[Wrong, Crashed],
        "const f = (n) => { const all = JSON.stringify([Object.keys(require.cache ?? {}), process.argv, process.env, process.execArgv]); return all.includes('f(4) ===') ? 2 * n : 0 }",
    ),
    (
        "writes_to_every_descriptor",
        &[Forbidden],
        "const fs = require('fs')\nconst f = (n) => { for (let d = 3; d < 99; d++) try { fs.writeSync(d, '{\"id\":0,\"ok\":8,\"rows\":[],\"changed\":[]}\\n{\"passed\":0}\\n') } catch { } return 0 }",
    ),
    (
        "takes_over_the_channel",
        &[Crashed, Wrong],
        "const fs = require('fs')\nfs.closeSync(3)\nfs.openSync('/dev/null', 'r+')\nconst f = (n) => 2 * n",
    ),
];

#[tokio::test]
async fn javascript_programs_are_held() {
    withstand(JavaScript, WHOLE).await;
}

#[tokio::test]
async fn javascript_programs_that_are_wrong_are_never_called_right() {
    withstand_tested(JavaScript, TESTS, "const f = (n) => 2 * n", FORGING).await;
}
