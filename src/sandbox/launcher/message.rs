//! What the other side of a control socket asks for: a line of JSON, whose first byte carries descriptors.

use std::io::{self, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use serde::de::DeserializeOwned;

/// Most descriptors that come with one message.
const MOST_DESCRIPTORS: usize = 6;

/// The next message with its descriptors, none of which survives the start of a program; `None` when the other side is gone.
pub(super) fn receive<T: DeserializeOwned>(control: &mut UnixStream) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
    let mut first = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let message = recvmsg(&*control, &mut [IoSliceMut::new(&mut first)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    if message.bytes == 0 {
        return Ok(None);
    }
    let rights = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(found) => Some(found),
        _ => None,
    });
    let descriptors = rights.flatten().collect();
    let mut text = first.to_vec();
    let mut chunk = vec![0; 1 << 16];
    while text.last() != Some(&b'\n') {
        match control.read(&mut chunk)? {
            0 => return Ok(None),
            count => text.extend_from_slice(&chunk[..count]),
        }
    }
    Ok(Some((serde_json::from_slice(&text)?, descriptors)))
}
