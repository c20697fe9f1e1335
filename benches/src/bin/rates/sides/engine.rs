use accrue::Account;
use accrue_benches::Outcome;
use pollster::block_on;

use super::{Name, Side};
use crate::{
    race::Caller,
    source::{Request, Round},
};

/// The engine on a store: callers have its handles in turn.
pub(crate) struct Engine {
    name: Name,
    accounts: Vec<Account>,
}

impl Engine {
    pub(crate) const fn new(name: Name, accounts: Vec<Account>) -> Self {
        Self { name, accounts }
    }
}

impl Side for Engine {
    fn name(&self) -> Name {
        self.name
    }

    fn callers<'a>(&'a mut self, round: &Round) -> Outcome<Vec<Caller<'a>>> {
        let caller = |(requests, account): (&Vec<Request>, &'a Account)| -> Caller<'a> {
            let requests = requests.clone();
            Box::new(move || {
                for request in requests {
                    block_on(request.run(account))?;
                }
                Ok(())
            })
        };
        Ok(round.requests.iter().zip(self.accounts.iter().cycle()).map(caller).collect())
    }
}
