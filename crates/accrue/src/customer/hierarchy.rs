use serde::{Deserialize, Serialize};

use crate::{CustomerId, Error, Patch, limits};

/// Hierarchy of a customer: the parent that it has, or the children (wire 4.2). A customer is in one hierarchy only, so
/// it has no parent and children both.
///
/// A subscription of the parent can count the usage of the children (subscriptions 1.5).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Hierarchy {
    /// Its parent. One that was deleted since is nobody's parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<CustomerId>,
    /// Its children, in the order in which they came. Those that were deleted since are among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<CustomerId>,
}

/// Changes to the hierarchy of a customer (wire 4.3).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HierarchyChange {
    /// Its parent from now on. To have another one it has to leave that which it has.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub parent: Patch<CustomerId>,
    /// Customers that become its children, beside those that it has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<CustomerId>,
}

impl Hierarchy {
    /// Tells whether the customer is alone.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.parent.is_none() && self.children.is_empty()
    }

    /// Becomes the child of another customer.
    pub(crate) fn join(
        &mut self,
        child: CustomerId,
        parent: CustomerId,
        of_parent: &mut Self,
    ) -> Result<(), Error> {
        if self.parent == Some(parent) {
            return Ok(());
        }
        let refused = if child == parent {
            format!("the customer {child} would be its own parent")
        } else if let Some(own) = self.parent {
            format!("the customer {child} is a child of {own} already")
        } else if !self.children.is_empty() {
            format!("the customer {child} has children, so it can be nobody's child")
        } else if let Some(own) = of_parent.parent {
            format!("the customer {parent} is a child of {own}, so it can have no children")
        } else if of_parent.children.len() >= limits::CHILDREN {
            format!("the customer {parent} has {} children already", limits::CHILDREN)
        } else {
            self.parent = Some(parent);
            of_parent.children.push(child);
            return Ok(());
        };
        Err(Error::constraint(refused))
    }

    /// Is the child of its parent no longer.
    pub(crate) fn leave(&mut self, child: CustomerId, of_parent: &mut Self) {
        self.parent = None;
        of_parent.children.retain(|id| *id != child);
    }
}

impl HierarchyChange {
    /// Tells whether it changes nothing.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
