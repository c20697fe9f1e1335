use std::{io, thread};

use tokio::{
    runtime::{Builder, Handle},
    sync::oneshot,
    task::JoinHandle,
};

/// Runtime that everything of a store runs on: the host's, or that of a thread of the store's own.
#[derive(Debug)]
pub(crate) struct Runtime {
    handle: Handle,
    own: Option<Own>,
}

#[derive(Debug)]
struct Own {
    /// Takes the tasks to wait for.
    stop: oneshot::Sender<Vec<JoinHandle<()>>>,
    thread: thread::JoinHandle<()>,
}

impl Runtime {
    pub(crate) fn of_host(handle: Handle) -> Self {
        Self { handle, own: None }
    }

    pub(crate) fn own() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<Vec<JoinHandle<()>>>();
        let thread = thread::Builder::new().name("accrue-postgres".to_owned());
        let thread = thread.spawn(move || {
            runtime.block_on(async {
                for task in stopped.await.unwrap_or_default() {
                    drop(task.await);
                }
            });
        })?;
        Ok(Self { handle, own: Some(Own { stop, thread }) })
    }

    /// Starts a task, which goes on where nobody waits for it any more.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.handle.spawn(future)
    }

    /// Waits for tasks, and for the thread where there is one; tasks of the host's runtime end when they are
    /// done.
    pub(crate) fn end(&mut self, tasks: Vec<JoinHandle<()>>) {
        if let Some(Own { stop, thread }) = self.own.take() {
            drop(stop.send(tasks));
            drop(thread.join());
        }
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.end(Vec::new());
    }
}
