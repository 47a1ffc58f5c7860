//! `rolecall doctor`: what this machine offers, and what to do about what it lacks.

use serde_json::{Value, json};

use super::{
    exit::{Exit, Failure},
    machine, terminal,
};
use crate::{
    domain::Language,
    sandbox::{Backend, BackendReport, LanguageReport, MachineReport, examine},
};

/// Looks at everything, and builds what the languages found want prepared where `prepare` says so.
///
/// # Errors
/// Where looking itself fails.
pub async fn doctor(prepare: bool, as_json: bool) -> Result<Exit, Failure> {
    let launcher = machine::launcher()?;
    let own = MachineReport::make().await;
    let mut backends = Vec::new();
    for backend in Backend::STRICT.into_iter().chain([Backend::Reduced]) {
        backends.push(examine(&launcher, backend).await.map_err(Failure::machine)?);
    }
    let mut languages = Vec::new();
    for language in Language::ALL {
        languages.extend(LanguageReport::make(*language, prepare).await.map_err(Failure::machine)?);
    }
    let chosen = backends.iter().find(|report| report.backend != Backend::Reduced && report.works());
    let has_python = languages.iter().any(|report| report.language == Language::Python && report.is_complete());
    let ready = chosen.is_some() && has_python;
    if as_json {
        terminal::json(&json!({
            "event": "doctor",
            "ready": ready,
            "kernel": own.kernel,
            "landlock_abi": own.landlock_abi,
            "seccomp": own.seccomp,
            "bubblewrap": own.bubblewrap.as_ref().map(|(path, version)| json!({ "path": path.to_string_lossy(), "version": version })),
            "isolation": chosen.and_then(|report| report.isolation.as_ref()),
            "backends": backends.iter().map(backend_object).collect::<Vec<_>>(),
            "languages": languages.iter().map(language_object).collect::<Vec<_>>(),
        }));
    } else {
        say_machine(&own, chosen, &backends);
        languages.iter().for_each(say_language);
        terminal::data(if ready { "ready" } else { "not ready: strict isolation and Python are needed" });
    }
    Ok(if ready { Exit::Ended } else { Exit::Machine })
}

fn backend_object(report: &BackendReport) -> Value {
    json!({
        "backend": report.backend.name(),
        "works": report.works(),
        "refused": report.refused,
        "isolation": report.isolation,
        "checks": report.checks,
    })
}

fn language_object(report: &LanguageReport) -> Value {
    let tool = |tool: &crate::sandbox::ToolReport| {
        let found = tool.found.as_ref();
        json!({
            "name": tool.name,
            "path": found.map(|(path, _)| path.to_string_lossy()),
            "version": found.map(|(_, version)| version),
            "missing": tool.missing,
        })
    };
    let preparation = report.preparation.as_ref();
    json!({
        "language": report.language.name(),
        "complete": report.is_complete(),
        "tools": report.tools.iter().map(tool).collect::<Vec<_>>(),
        "preparation": preparation.map(|one| json!({ "folder": one.folder.to_string_lossy(), "built": one.built, "bytes": one.bytes })),
        "limits": report.limits,
    })
}

fn say_machine(own: &MachineReport, chosen: Option<&BackendReport>, backends: &[BackendReport]) {
    terminal::data(&format!("kernel      {}", own.kernel));
    let landlock = if own.landlock_abi > 0 { format!("ABI {}", own.landlock_abi) } else { "none".to_owned() };
    terminal::data(&format!("Landlock    {landlock}"));
    terminal::data(&format!("seccomp     {}", if own.seccomp { "yes" } else { "none" }));
    let bubblewrap = own.bubblewrap.as_ref().map(|(path, version)| format!("{version}, {}", path.display()));
    terminal::data(&format!("bwrap       {}", bubblewrap.unwrap_or_else(|| "not on the path".to_owned())));
    let isolation = chosen.and_then(|report| report.isolation.as_ref());
    let limited = isolation.map(|isolation| format!("memory by {}, processes by {}", isolation.memory, isolation.pids));
    terminal::data(&format!("limits      {}", limited.unwrap_or_else(|| "none: no strict isolation".to_owned())));
    for report in backends {
        let state = match (report.works(), report.backend) {
            (true, Backend::Reduced) => "works, if asked for".to_owned(),
            (true, _) if chosen.is_some_and(|chosen| chosen.backend == report.backend) => "works, is used".to_owned(),
            (true, _) => "works".to_owned(),
            (false, _) => format!("no: {}", report.reasons().join("; ")),
        };
        terminal::data(&format!("backend     {}: {state}", report.backend.name()));
    }
}

fn say_language(report: &LanguageReport) {
    for tool in &report.tools {
        let state = match (&tool.found, &tool.missing) {
            (Some((path, version)), None) => format!("{version}, {}", path.display()),
            (_, missing) => format!("missing: {}", missing.as_deref().unwrap_or_default()),
        };
        terminal::data(&format!("{:<11} {}: {state}", report.language.title(), tool.name));
    }
    if let Some(preparation) = &report.preparation {
        let state = if preparation.built {
            format!("{:.1} MiB in {}", preparation.bytes as f64 / f64::from(1 << 20), preparation.folder.display())
        } else {
            "not built yet: by `rolecall doctor --prepare`, or when it is first needed".to_owned()
        };
        terminal::data(&format!("            prepared: {state}"));
    }
    if report.is_complete() {
        let limits = &report.limits;
        terminal::data(&format!(
            "            limits: {} ms CPU a test, {} MiB memory, {} processes, {} MiB a file",
            limits.test_cpu_ms,
            limits.memory_bytes >> 20,
            limits.processes,
            limits.file_bytes >> 20,
        ));
    }
}
