//! A Jaeger of the tests' own: on free ports of this machine, awaited until it is healthy, and gone with its test.

use std::{
    fs::{self, File},
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicU16, Ordering::SeqCst},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use rolecall::telemetry::{Endpoint, Protocol};
use tempfile::TempDir;

/// Long enough for a loaded machine; nothing waits for it when all goes well.
pub const LIMIT: Duration = Duration::from_secs(60);

/// Where a Jaeger lives: its ports and its folder. It may be started there, stopped and started again.
pub struct Site {
    otlp: u16,
    grpc: u16,
    query: u16,
    health: u16,
    folder: TempDir,
}

/// What a Jaeger remembers.
#[derive(Clone, Copy)]
pub enum Storage {
    /// Until it ends.
    Memory,
    /// In the site's folder, so that the next one there knows it too.
    Disk,
}

impl Site {
    /// Ports that nobody listens on. They are below those that connections are given, so nobody will by chance.
    pub fn new(storage: Storage) -> Self {
        let (otlp, grpc, query, health) = (free_port(), free_port(), free_port(), free_port());
        let folder = tempfile::tempdir().unwrap();
        let backend = match storage {
            Storage::Memory => "memory: { max_traces: 100000 }".to_owned(),
            Storage::Disk => {
                let at = folder.path().display();
                format!(
                    "badger: {{ ephemeral: false, consistency: true, directories: {{ keys: '{at}/keys', values: '{at}/values' }} }}"
                )
            }
        };
        // Without a batch processor what is acknowledged is stored.
        let config = format!(
            "service:
  extensions: [jaeger_storage, jaeger_query, healthcheckv2]
  pipelines:
    traces: {{ receivers: [otlp], exporters: [jaeger_storage_exporter] }}
  telemetry: {{ metrics: {{ level: none }}, logs: {{ level: warn }} }}
extensions:
  healthcheckv2: {{ use_v2: true, http: {{ endpoint: '127.0.0.1:{health}' }} }}
  jaeger_query:
    storage: {{ traces: store }}
    http: {{ endpoint: '127.0.0.1:{query}' }}
    grpc: {{ endpoint: '127.0.0.1:0' }}
  jaeger_storage: {{ backends: {{ store: {{ {backend} }} }} }}
receivers:
  otlp:
    protocols: {{ http: {{ endpoint: '127.0.0.1:{otlp}' }}, grpc: {{ endpoint: '127.0.0.1:{grpc}' }} }}
exporters: {{ jaeger_storage_exporter: {{ trace_storage: store }} }}
"
        );
        fs::write(folder.path().join("config.yaml"), config).unwrap();
        Self { otlp, grpc, query, health, folder }
    }

    /// Where it takes OTLP over gRPC.
    pub fn grpc_endpoint(&self) -> Endpoint {
        Endpoint { protocol: Protocol::Grpc, ..Endpoint::at(self.grpc_url().parse().unwrap()) }
    }

    /// What `OTEL_EXPORTER_OTLP_ENDPOINT` is set to for it, over gRPC.
    pub fn grpc_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.grpc)
    }

    /// What `OTEL_EXPORTER_OTLP_ENDPOINT` is set to for it.
    pub fn otlp_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.otlp)
    }

    pub fn endpoint(&self) -> Endpoint {
        Endpoint::at(format!("{}/v1/traces", self.otlp_url()).parse().unwrap())
    }

    pub fn query_url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.query)
    }

    /// Starts a Jaeger here and waits until it is healthy.
    pub fn start(&self) -> Process {
        self.try_start().unwrap_or_else(|log| panic!("Jaeger did not start: {log}"))
    }

    fn try_start(&self) -> Result<Process, String> {
        let log = self.folder.path().join("log");
        let mut process = Process::new(&self.folder.path().join("config.yaml"), &log);
        let health = format!("http://127.0.0.1:{}/status", self.health);
        let begin = Instant::now();
        loop {
            let said = reqwest::blocking::get(&health).and_then(reqwest::blocking::Response::text).unwrap_or_default();
            if said.contains("StatusOK") && !process.is_over() {
                return Ok(process);
            }
            if process.is_over() || begin.elapsed() > LIMIT {
                return Err(format!("{said} {}", fs::read_to_string(&log).unwrap()));
            }
            thread::sleep(Duration::from_millis(50));
        }
    }
}

fn free_port() -> u16 {
    static NEXT: OnceLock<AtomicU16> = OnceLock::new();
    // Other checkouts may be under test at the same time.
    let next = NEXT.get_or_init(|| AtomicU16::new((std::process::id() % 10_000) as u16));
    loop {
        let port = 20_000 + next.fetch_add(1, SeqCst) % 10_000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// A running Jaeger. It ends with this value, and with this process whatever becomes of it.
pub struct Process {
    child: Child,
    /// The thread that started it lives as long as this: its end is the child's.
    _keeper: mpsc::Sender<()>,
}

impl Process {
    fn new(config: &Path, log: &Path) -> Self {
        let mut command = Command::new("setpriv");
        // Killed by the kernel when the thread that starts it ends: a test that is killed leaves nothing behind.
        command.args(["--pdeathsig", "KILL", "--"]).arg(binary());
        command.arg("--config").arg(format!("file:{}", config.display()));
        // It shall not trace itself.
        command.env("OTEL_TRACES_SAMPLER", "always_off").env_remove("OTEL_EXPORTER_OTLP_ENDPOINT");
        let log = File::create(log).unwrap();
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        let (keeper, until) = mpsc::channel();
        let (started, child) = mpsc::channel();
        thread::spawn(move || {
            started.send(command.spawn()).unwrap();
            until.recv().ok();
        });
        Self { child: child.recv().unwrap().unwrap(), _keeper: keeper }
    }

    fn is_over(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Ends it as its user would: what it took is stored.
    pub fn stop(mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The program, which `scripts/test` builds before.
fn binary() -> &'static str {
    static BINARY: OnceLock<String> = OnceLock::new();
    BINARY.get_or_init(|| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/jaeger");
        let output = Command::new(script).arg("path").output().unwrap();
        let path = String::from_utf8(output.stdout).unwrap().trim().to_owned();
        assert!(
            Path::new(&path).exists(),
            "there is no Jaeger in {path}: `scripts/jaeger build` makes it, minutes, once"
        );
        path
    })
}

/// A Jaeger at its site.
pub struct Jaeger {
    pub site: Site,
    _process: Process,
}

impl Jaeger {
    /// One for a test alone, which knows nothing but what that test sends.
    pub fn start() -> Self {
        // A port may be gone between the look at it and the start.
        let mut last = String::new();
        for _ in 0..5 {
            let site = Site::new(Storage::Memory);
            match site.try_start() {
                Ok(process) => return Self { site, _process: process },
                Err(log) => last = log,
            }
        }
        panic!("Jaeger did not start: {last}")
    }

    /// One for a static, which is never dropped: it leaves no folder behind.
    pub fn for_good() -> Self {
        let jaeger = Self::start();
        // It has read its settings.
        fs::remove_dir_all(jaeger.site.folder.path()).unwrap();
        jaeger
    }

    /// The one that tests share which look at their own traces only.
    pub fn shared() -> &'static Self {
        static SHARED: Mutex<Option<&'static Jaeger>> = Mutex::new(None);
        // One that did not start for another test fails this one for its own reason.
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        shared.get_or_insert_with(|| Box::leak(Box::new(Self::for_good())))
    }
}
