use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::UnixStream;

/// Most descriptors that go with one request.
const MOST_DESCRIPTORS: usize = 6;

/// What a line channel gave.
pub(super) enum Received {
    /// One line without its end.
    Line(Vec<u8>),
    /// The other side closed it.
    End,
    /// A line longer than allowed.
    TooLong,
}

/// Lines over a socket, with a limit on their length in bytes. Reading may be cancelled at any point without loss.
pub(super) struct Lines {
    stream: UnixStream,
    buffer: Vec<u8>,
    searched: usize,
    limit: usize,
}

impl Lines {
    /// A channel and the descriptor of its other end, for another process.
    pub(super) fn pair(limit: usize) -> io::Result<(Self, OwnedFd)> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let stream = UnixStream::from_std(ours)?;
        Ok((Self { stream, buffer: Vec::new(), searched: 0, limit }, OwnedFd::from(theirs)))
    }

    /// The next line.
    pub(super) async fn receive(&mut self) -> io::Result<Received> {
        loop {
            if let Some(at) = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n') {
                let rest = self.buffer.split_off(self.searched + at + 1);
                let mut line = std::mem::replace(&mut self.buffer, rest);
                line.pop();
                self.searched = 0;
                return Ok(Received::Line(line));
            }
            self.searched = self.buffer.len();
            if self.buffer.len() > self.limit {
                return Ok(Received::TooLong);
            }
            match self.stream.read_buf(&mut self.buffer).await {
                Ok(0) => return Ok(Received::End),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(Received::End),
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether the other side has said something that nobody has read yet.
    pub(super) fn has_unread(&mut self) -> bool {
        self.buffer.is_empty() && matches!(self.stream.try_read_buf(&mut self.buffer), Ok(count) if count > 0)
            || !self.buffer.is_empty()
    }

    /// Sends bytes as they are; the caller ends its lines. A peer that is gone is no error: reading will say so.
    pub(super) async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.stream.write_all(bytes).await {
            Err(error) if matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset) => Ok(()),
            other => other,
        }
    }

    /// Sends a message whose first byte carries descriptors.
    pub(super) async fn send_with(&mut self, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        let (first, rest) = bytes.split_at(1);
        let stream = &self.stream;
        stream
            .async_io(Interest::WRITABLE, || {
                let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
                let mut ancillary = SendAncillaryBuffer::new(&mut space);
                if !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
                    return Err(io::Error::other("too many descriptors"));
                }
                sendmsg(stream.as_fd(), &[IoSlice::new(first)], &mut ancillary, SendFlags::NOSIGNAL)?;
                Ok(())
            })
            .await?;
        self.stream.write_all(rest).await
    }
}
