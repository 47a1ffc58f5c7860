//! The standard variables of the environment, as a run obeys them, against a real Jaeger.

use std::{fs, path::Path, process::Output};

use serde_json::Value;

use super::{
    binary::{command, ended},
    gate::{Gate, Manner},
    play::{files_below, pushed, written},
    server::{Jaeger, LIMIT},
};
use crate::cli::text;

const REPAIR: &[&str] = &["--topology", "self_debug", "--budget", "programs=3"];

fn run(folder: &Path, collector: &str, variables: &[(&str, &str)], more: &[&str]) -> Output {
    let mut run = command(folder, collector, &[REPAIR, more].concat());
    run.envs(variables.iter().copied()).output().unwrap()
}

#[test]
fn t34_roles_keep_their_names_and_the_environment_gives_the_namespace_and_more() {
    let site = &Jaeger::shared().site;
    let folder = tempfile::tempdir().unwrap();
    let variables =
        [("OTEL_SERVICE_NAME", "ci"), ("OTEL_RESOURCE_ATTRIBUTES", "service.name=x,team=a%20b,service.instance.id=1")];
    let output = run(folder.path(), &site.otlp_url(), &variables, &[]);
    let (ids, run) = ended(&output);
    let seen = site.trace(&ids[0]);
    assert!(seen.len() > 5);
    for span in &seen {
        assert_ne!(span.service, "x");
        let of = |key: &str| span.resource.get(key).cloned().unwrap_or_default();
        assert_eq!((of("service.namespace"), of("team")), ("ci".to_owned(), "a b".to_owned()));
        assert_eq!(of("service.instance.id"), run["run"].as_str().unwrap());
    }
}

#[test]
fn t35_disabled_means_no_network_and_a_whole_file() {
    let site = &Jaeger::shared().site;
    for variable in [("OTEL_SDK_DISABLED", "true"), ("OTEL_TRACES_EXPORTER", "none")] {
        let (folder, gate) = (tempfile::tempdir().unwrap(), Gate::before(site, Manner::Pass));
        let output = run(folder.path(), &gate.url, &[variable], &[]);
        let (ids, run) = ended(&output);
        assert!(gate.heads().is_empty(), "{variable:?}");
        assert_eq!((&run["traces"]["endpoint"], &run["traces"]["acknowledged"]), (&Value::Null, &0.into()));
        assert!(written(&files_below(folder.path()))[&ids[0]] > 5);
    }
}

#[test]
fn t35_a_sampler_leaves_out_whole_conversations_and_never_touches_the_files() {
    let site = &Jaeger::shared().site;
    let share = [("OTEL_TRACES_SAMPLER", "parentbased_traceidratio"), ("OTEL_TRACES_SAMPLER_ARG", "0.5")];
    for variables in [&[("OTEL_TRACES_SAMPLER", "always_off")][..], &share] {
        let folder = tempfile::tempdir().unwrap();
        let output = run(folder.path(), &site.otlp_url(), variables, &["--samples", "12"]);
        let (ids, run) = ended(&output);
        let files = files_below(folder.path());
        let written = written(&files);
        let spans: usize = written.values().sum();
        let (whole, none): (Vec<&String>, Vec<&String>) = ids.iter().partition(|id| !site.trace(id).is_empty());
        assert!(!none.is_empty() && (variables.len() == 2) != whole.is_empty(), "{whole:?} {none:?}");
        assert!(whole.iter().all(|id| site.trace(id).len() == written[*id]));
        let left_out: usize = none.iter().map(|id| written[*id]).sum();
        let traces = &run["traces"];
        assert_eq!((&traces["left_out"], &traces["waiting"]), (&left_out.into(), &0.into()));
        assert_eq!(traces["acknowledged"], spans - left_out);
        let said = text(&output.stderr);
        assert!(said.contains(&format!("{left_out} left out, as OTEL_TRACES_SAMPLER says")), "{said}");
        // They are in the files, so that they can be delivered all the same.
        assert_eq!(pushed(&files, site.endpoint(), LIMIT).acknowledged, left_out as u64);
        assert_eq!(site.trace(none[0]).len(), written[none[0]]);
    }
}

#[test]
fn t35_requests_are_compressed_over_http_and_over_grpc() {
    let site = &Jaeger::shared().site;
    let zipped = ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip");
    let gate = Gate::before(site, Manner::Say("200 OK", "application/x-protobuf", Vec::new()));
    run(tempfile::tempdir().unwrap().path(), &gate.url, &[zipped], &[]);
    let heads = gate.heads();
    assert!(!heads.is_empty() && heads.iter().all(|head| head.to_lowercase().contains("content-encoding: gzip")));
    let grpc = ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    for (collector, variables) in [(site.otlp_url(), &[zipped][..]), (site.grpc_url(), &[zipped, grpc])] {
        let folder = tempfile::tempdir().unwrap();
        let (ids, run) = ended(&run(folder.path(), &collector, variables, &[]));
        assert_eq!(run["traces"]["acknowledged"], site.trace(&ids[0]).len(), "{variables:?} {}", run["traces"]);
        assert_eq!(run["traces"]["waiting"], 0);
    }
}

#[test]
fn t35_what_cannot_be_followed_is_said_before_anything_starts() {
    let folder = tempfile::tempdir().unwrap();
    for (variable, value) in [
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"),
        ("OTEL_TRACES_SAMPLER", "sometimes"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
    ] {
        let output = run(folder.path(), "http://127.0.0.1:9", &[(variable, value)], &[]);
        assert_eq!(output.status.code(), Some(2));
        let said = text(&output.stderr);
        assert!(said.contains(variable) && said.contains(value), "{said}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn t30_variables_of_queues_have_no_effect_and_are_named_once() {
    let site = &Jaeger::shared().site;
    let folder = tempfile::tempdir().unwrap();
    let variables = [("OTEL_BSP_MAX_QUEUE_SIZE", "0"), ("OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", "3")];
    let output = run(folder.path(), &site.otlp_url(), &variables, &["--samples", "3"]);
    let (ids, _) = ended(&output);
    let written = written(&files_below(folder.path()));
    assert!(ids.iter().all(|id| site.trace(id).len() == written[id]));
    let said = text(&output.stderr);
    let line = "OTEL_BSP_MAX_QUEUE_SIZE, OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT have no effect";
    assert_eq!(said.matches(line).count(), 1, "{said}");
}

#[test]
fn t29_with_trace_strict_a_loss_has_an_exit_code() {
    let site = &Jaeger::shared().site;
    let code = |collector: &str, more: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        run(folder.path(), collector, &[], more).status.code()
    };
    let refusing = Gate::before(site, Manner::Say("400 Bad Request", "text/plain", b"no".to_vec()));
    assert_eq!(code(&refusing.url, &[]), Some(0));
    assert_eq!(code(&refusing.url, &["--trace-strict"]), Some(1));
    assert_eq!(code(&site.otlp_url(), &["--trace-strict"]), Some(0));
}
