//! What listens on this machine, and what other executions left, is out of reach in every language.

use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use rolecall::domain::{Language, Verdict};

use super::sandbox;
use crate::languages::io;
use crate::sandbox::judge;

/// Programs that print `escaped` once a connection to NAME (an abstract socket), PATH (a socket) or PORT is made.
fn connecting(language: Language) -> &'static str {
    match language {
        Language::Python => {
            "import socket\nfor family, place in ((socket.AF_UNIX, '\\0NAME'), (socket.AF_UNIX, 'PATH'), (socket.AF_INET, ('127.0.0.1', PORT))):\n    try: socket.socket(family).connect(place); print('escaped')\n    except OSError: pass\n"
        }
        Language::Cpp => {
            "#include <sys/socket.h>\n#include <sys/un.h>\n#include <netinet/in.h>\n#include <arpa/inet.h>\n#include <cstring>\n#include <cstdio>\nint main() {\n    sockaddr_un u{};\n    u.sun_family = AF_UNIX;\n    strcpy(u.sun_path + 1, \"NAME\");\n    if (connect(socket(AF_UNIX, SOCK_STREAM, 0), (sockaddr*)&u, 3 + strlen(\"NAME\")) == 0) puts(\"escaped\");\n    strcpy(u.sun_path, \"PATH\");\n    if (connect(socket(AF_UNIX, SOCK_STREAM, 0), (sockaddr*)&u, sizeof u) == 0) puts(\"escaped\");\n    sockaddr_in i{};\n    i.sin_family = AF_INET;\n    i.sin_port = htons(PORT);\n    i.sin_addr.s_addr = htonl(0x7f000001);\n    if (connect(socket(AF_INET, SOCK_STREAM, 0), (sockaddr*)&i, sizeof i) == 0) puts(\"escaped\");\n}\n"
        }
        Language::Java => {
            "import java.net.*;\nimport java.nio.channels.*;\nclass Main { public static void main(String[] a) {\n    try { new Socket(\"127.0.0.1\", PORT); System.out.println(\"escaped\"); } catch (Exception e) { }\n    try { SocketChannel.open(UnixDomainSocketAddress.of(\"PATH\")); System.out.println(\"escaped\"); } catch (Exception e) { }\n} }\n"
        }
        Language::JavaScript => {
            "const net = require('net')\nfor (const place of [{ path: '\\0NAME' }, { path: 'PATH' }, { host: '127.0.0.1', port: PORT }]) net.connect(place, () => console.log('escaped')).on('error', () => {})\n"
        }
        Language::Go => {
            "package main\nimport (\"fmt\"; \"net\")\nfunc main() {\n    for _, p := range [][2]string{{\"unix\", \"@NAME\"}, {\"unix\", \"PATH\"}, {\"tcp\", \"127.0.0.1:PORT\"}} {\n        if _, e := net.Dial(p[0], p[1]); e == nil { fmt.Println(\"escaped\") }\n    }\n}\n"
        }
        Language::Rust => {
            "use std::net::TcpStream;\nuse std::os::linux::net::SocketAddrExt;\nuse std::os::unix::net::{SocketAddr, UnixStream};\nfn main() {\n    if UnixStream::connect_addr(&SocketAddr::from_abstract_name(\"NAME\").unwrap()).is_ok() || UnixStream::connect(\"PATH\").is_ok() || TcpStream::connect(\"127.0.0.1:PORT\").is_ok() { println!(\"escaped\"); }\n}\n"
        }
    }
}

#[tokio::test]
async fn nobody_who_listens_on_this_machine_can_be_reached() {
    let name = format!("rolecall-test-{}", std::process::id());
    let _abstract = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let _named = UnixListener::bind(&path).unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port().to_string();
    for language in Language::ALL {
        let sandbox = sandbox(*language).await;
        let program = connecting(*language).replace("NAME", &name).replace("PATH", &path.display().to_string());
        let judgement = judge(&sandbox, &io(*language, &program.replace("PORT", &port), "", "escaped\n")).await;
        assert_eq!(judgement.verdict, Verdict::Wrong, "{judgement:#?}");
        assert_eq!(judgement.stdout.text, "", "{judgement:#?}");
    }
}
