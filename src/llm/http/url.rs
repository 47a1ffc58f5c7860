use url::{Host, Url};

/// A URL that requests go to: http or https and a host. A query, a fragment and a password, which would reach logs, are
/// refused.
///
/// # Errors
/// What is wrong, in words that follow the name of its key; nothing of the URL is quoted.
pub fn check_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text.trim()).map_err(|error| format!("is not a URL: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err("must begin with http:// or https:// and a host".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must hold no user name or password; name the key's variable instead".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("must have neither `?` nor `#`".to_owned());
    }
    Ok(url)
}

/// Whether the server is this machine, which no proxy may stand before.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(domain)) => domain == "localhost" || domain.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{check_url, is_loopback};

    #[test]
    fn only_this_machine_is_this_machine() {
        assert!(is_loopback(&check_url("http://127.0.0.1:8080/v1").unwrap()));
        assert!(is_loopback(&check_url("http://[::1]:8080/v1").unwrap()));
        assert!(is_loopback(&check_url("http://localhost/v1").unwrap()));
        assert!(!is_loopback(&check_url("http://10.0.0.1/v1").unwrap()));
    }
}
