use accrue::Account;
use accrue_benches::{Backend, Outcome};
use pollster::block_on;

use super::{Name, Side};
use crate::{
    race::Caller,
    source::{Request, Round},
};

/// The engine on a backend.
pub(crate) struct Engine {
    backend: Backend,
    account: Account,
}

impl Engine {
    pub(crate) const fn new(backend: Backend, account: Account) -> Self {
        Self { backend, account }
    }
}

impl Side for Engine {
    fn name(&self) -> Name {
        Name::Accrue(self.backend)
    }

    fn callers<'a>(&'a mut self, round: &Round) -> Outcome<Vec<Caller<'a>>> {
        let account = &self.account;
        let caller = |requests: &Vec<Request>| -> Caller<'a> {
            let requests = requests.clone();
            Box::new(move || {
                for request in requests {
                    block_on(request.run(account))?;
                }
                Ok(())
            })
        };
        Ok(round.requests.iter().map(caller).collect())
    }
}
