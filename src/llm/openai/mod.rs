//! Any OpenAI-compatible server, through `async-openai` with lenient types and our own transport policy.
