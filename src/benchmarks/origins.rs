use crate::domain::Language;

/// A file of a public data set as its authors publish it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The data set.
    pub benchmark: &'static str,
    /// The language of its programs.
    pub language: Language,
    /// Where it is published, at a commit.
    pub url: &'static str,
    /// SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: &'static str,
}

impl Origin {
    /// Its name without a folder.
    pub fn file(&self) -> &'static str {
        self.url.rsplit_once('/').map_or(self.url, |(_, file)| file)
    }
}

/// The published files whose checksums are known: those of which the bytes at this very place were seen. Data sets that are
/// converted before they are read here, or whose files were seen in part or elsewhere only, have none.
pub const ORIGINS: &[Origin] = &[
    Origin {
        benchmark: "humaneval",
        language: Language::Python,
        url: concat!(
            "https://raw.githubusercontent.com/openai/human-eval/6d43fb980f9fee3c892a914eda09951f772ad10d",
            "/data/HumanEval.jsonl.gz"
        ),
        sha256: "b796127e635a67f93fb35c04f4cb03cf06f38c8072ee7cee8833d7bee06979ef",
    },
    Origin {
        benchmark: "humaneval-x",
        language: Language::Python,
        url: concat!(
            "https://raw.githubusercontent.com/THUDM/CodeGeeX/2838420b7b4492cf3d16bce5320e26e65960c9e2",
            "/codegeex/benchmark/humaneval-x/python/data/humaneval_python.jsonl.gz"
        ),
        sha256: "5752fb122efddb0e9b47c77907ae6ce9a15aac4dea14e44c46032c831e6b987a",
    },
    Origin {
        benchmark: "humaneval-x",
        language: Language::Cpp,
        url: concat!(
            "https://raw.githubusercontent.com/THUDM/CodeGeeX/2838420b7b4492cf3d16bce5320e26e65960c9e2",
            "/codegeex/benchmark/humaneval-x/cpp/data/humaneval_cpp.jsonl.gz"
        ),
        sha256: "dcf2e280a1e91bbc3c5f90edb41397e8a9ac1ccc9f5d2b70082f0b0fbfb6dbb0",
    },
    Origin {
        benchmark: "humaneval-x",
        language: Language::Java,
        url: concat!(
            "https://raw.githubusercontent.com/THUDM/CodeGeeX/2838420b7b4492cf3d16bce5320e26e65960c9e2",
            "/codegeex/benchmark/humaneval-x/java/data/humaneval_java.jsonl.gz"
        ),
        sha256: "276f36db2eb7aeb864f36a19a2f4e1bb2460fb6e22ff100f0b5bedabe3799967",
    },
    Origin {
        benchmark: "humaneval-x",
        language: Language::JavaScript,
        url: concat!(
            "https://raw.githubusercontent.com/THUDM/CodeGeeX/2838420b7b4492cf3d16bce5320e26e65960c9e2",
            "/codegeex/benchmark/humaneval-x/js/data/humaneval_js.jsonl.gz"
        ),
        sha256: "fe5d467f2c1a027b3f6f18d3729aca01f6458c1de2e2d1292a019c5aa9bed424",
    },
    Origin {
        benchmark: "humaneval-x",
        language: Language::Go,
        url: concat!(
            "https://raw.githubusercontent.com/THUDM/CodeGeeX/2838420b7b4492cf3d16bce5320e26e65960c9e2",
            "/codegeex/benchmark/humaneval-x/go/data/humaneval_go.jsonl.gz"
        ),
        sha256: "09126ef64ac68f87296c5f3781186aedc5dec799b114d9df99d6de4a715a7830",
    },
    Origin {
        benchmark: "humaneval-x",
        language: Language::Rust,
        url: concat!(
            "https://raw.githubusercontent.com/THUDM/CodeGeeX/2838420b7b4492cf3d16bce5320e26e65960c9e2",
            "/codegeex/benchmark/humaneval-x/rust/data/humaneval_rust.jsonl.gz"
        ),
        sha256: "ae5cabbbfc8fe25244a608b04f09ac3b324c645ac969dfc033756c12f0f9924c",
    },
];

/// The published files of a data set.
pub fn origins(benchmark: &str) -> impl Iterator<Item = &'static Origin> {
    ORIGINS.iter().filter(move |origin| origin.benchmark == benchmark)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::ORIGINS;
    use crate::benchmarks::{Sha256, benchmark};

    #[test]
    fn every_published_file_has_a_checksum_and_a_data_set_of_its_language() {
        let files: BTreeSet<_> = ORIGINS.iter().map(|origin| origin.file()).collect();
        assert_eq!(files.len(), ORIGINS.len());
        for origin in ORIGINS {
            assert!(origin.sha256.parse::<Sha256>().is_ok() && origin.url.starts_with("https://"), "{origin:?}");
            benchmark(origin.benchmark).unwrap().check_language(origin.language).unwrap();
        }
    }
}
