use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use actix::{Actor, AsyncContext, Context, Handler, Supervised, Supervisor};

use super::{Cast, Envelope, Fault, Finished, Inlets, Receives, Role, Routed, Seat, Turn, now_unix_nanos, turn::lock};
use crate::messages::Message;

/// How long a turn may go on after its conversation was cancelled before it is dropped.
const GRACE: Duration = Duration::from_secs(3);

/// The one actor that hosts every role. Its handlers take microseconds: a turn is a task of its own on the multi-threaded
/// runtime, so one actor runs many turns at once and its mailbox never waits for a model.
///
/// A panic ends the turn that it happened in and nothing else: the actor swaps in a fresh role for the turns that follow,
/// and turns in flight go on with the one they have.
pub struct RoleActor<R: Role> {
    role: Result<Arc<R>, Fault>,
    factory: Arc<dyn Fn() -> Result<R, Fault> + Send + Sync>,
    restarts: u32,
}

/// A turn panicked: what it shared may be half changed.
#[derive(actix::Message)]
#[rtype(result = "()")]
struct Panicked;

/// Starts an actor for role `R` under a supervisor and says where it takes its messages.
///
/// Must be called inside an actix system.
pub fn start_role<R: Role>(settings: R::Settings, seat: Arc<Seat>) -> Cast {
    let factory: Arc<dyn Fn() -> Result<R, Fault> + Send + Sync> =
        Arc::new(move || R::new(settings.clone(), &seat).map_err(|error| Fault::Setup(error.to_string())));
    let address = Supervisor::start(move |_| RoleActor::<R> { role: build(&factory), factory, restarts: 0 });
    Inlets::of(&address)
}

/// A role that panics while it is built is a fault of the turns that need it.
fn build<R: Role>(factory: &Arc<dyn Fn() -> Result<R, Fault> + Send + Sync>) -> Result<Arc<R>, Fault> {
    match std::panic::catch_unwind(AssertUnwindSafe(|| factory())) {
        Ok(built) => built.map(Arc::new),
        Err(panic) => Err(Fault::Panic { message: panic_text(panic.as_ref()) }),
    }
}

impl<R: Role> Actor for RoleActor<R> {
    type Context = Context<Self>;
}

impl<R: Role> Supervised for RoleActor<R> {
    fn restarting(&mut self, _: &mut Context<Self>) {
        self.restart();
    }
}

impl<R: Role> RoleActor<R> {
    fn restart(&mut self) {
        self.restarts += 1;
        self.role = build(&self.factory);
        tracing::debug!(role = R::SPEC.name, restarts = self.restarts, "a fresh role was swapped in");
    }
}

impl<R: Role> Handler<Panicked> for RoleActor<R> {
    type Result = ();

    fn handle(&mut self, _: Panicked, _: &mut Context<Self>) {
        self.restart();
    }
}

impl<R: Receives<M>, M: Routed> Handler<Envelope<M>> for RoleActor<R> {
    type Result = ();

    fn handle(&mut self, envelope: Envelope<M>, context: &mut Context<Self>) {
        let Envelope { inbox, turn, ticket } = envelope;
        let role = match &self.role {
            Ok(role) => Ok(role.clone()),
            Err(fault) => {
                let fault = fault.clone();
                self.restart();
                Err(fault)
            }
        };
        let supervisor = context.address();
        // The task owns the ticket, so it cannot end without an answer.
        drop(tokio::spawn(async move {
            let started_ns = now_unix_nanos();
            let log = turn.log_handle();
            let result = match role {
                Ok(role) => take_turn(role, inbox, turn).await,
                Err(fault) => Err(fault),
            };
            if matches!(result, Err(Fault::Panic { .. })) {
                supervisor.do_send(Panicked);
            }
            let log = std::mem::take(&mut *lock(&log));
            let (seq, attempt) = (ticket.seq(), ticket.attempt());
            ticket.settle(Finished { seq, attempt, result, log, started_ns, ended_ns: now_unix_nanos() });
        }));
    }
}

/// Runs one turn in a task of its own, which is the border that a panic does not cross.
async fn take_turn<R: Receives<M>, M: Routed>(
    role: Arc<R>,
    inbox: Vec<Arc<M>>,
    turn: Turn,
) -> Result<Vec<Message>, Fault> {
    let cancel = turn.cancelled().clone();
    let mut task = tokio::spawn(async move {
        if let Some(watch) = &turn.seat().scene.watch {
            watch(&turn.seat().actor, turn.seq());
        }
        role.receive(&inbox, &turn).await
    });
    let joined = tokio::select! {
        joined = &mut task => joined,
        () = async { cancel.cancelled().await; tokio::time::sleep(GRACE).await } => {
            task.abort();
            return Err(Fault::Cancelled);
        }
    };
    match joined {
        Ok(Ok(messages)) => allowed::<R>(messages),
        Ok(Err(fault)) => Err(fault),
        Err(error) if error.is_panic() => Err(Fault::Panic { message: panic_text(error.into_panic().as_ref()) }),
        Err(_) => Err(Fault::Lost),
    }
}

/// A role says only what its specification allows.
fn allowed<R: Role>(messages: Vec<Message>) -> Result<Vec<Message>, Fault> {
    match messages.iter().map(Message::kind).find(|kind| !R::SPEC.emits.contains(kind)) {
        Some(kind) => Err(Fault::Rule(format!("the role {} does not emit {kind}", R::SPEC.name))),
        None => Ok(messages),
    }
}

fn panic_text(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without a message".to_owned())
}
