//! What is on a document, in the words that a reader sees.

mod credit_note;
mod customer;
mod invoice;
mod lines;
mod receipt;

/// Document of which all is said but where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paper {
    /// Title: what kind of document it is.
    pub title: String,
    /// Number that it bears.
    pub number: String,
    /// Whoever bills.
    pub seller: Seller,
    /// Whom it is for, and where goods go.
    pub parties: Vec<Party>,
    /// Facts: numbers and dates.
    pub facts: Vec<Fact>,
    /// What it comes to, in a few words.
    pub headline: String,
    /// A line below that.
    pub subline: String,
    /// Code of the currency of the amounts.
    pub currency: String,
    /// Rows of the table.
    pub entries: Vec<Entry>,
    /// Sums below the table.
    pub figures: Vec<Figure>,
    /// Texts below these, each with a title.
    pub notes: Vec<Party>,
}

/// Whoever bills: the lines of its name and address, the name first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seller {
    /// The lines.
    pub lines: Vec<String>,
}

/// Text of several lines, with a title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Party {
    /// The title.
    pub title: String,
    /// The lines.
    pub lines: Vec<String>,
}

/// A number or a date, with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The name.
    pub name: String,
    /// The value.
    pub value: String,
}

/// A row of the table, with what it is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// What is charged.
    pub name: String,
    /// The service period.
    pub period: String,
    /// How much of it.
    pub quantity: String,
    /// What that comes to before adjustments.
    pub amount: String,
    /// Parts of that, each with its quantity and amount.
    pub parts: Vec<[String; 3]>,
    /// Adjustments, credits and the like, each with its amount.
    pub changes: Vec<Figure>,
    /// What it comes to with these, where there are some.
    pub total: Option<String>,
}

/// An amount with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// The name.
    pub name: String,
    /// The amount.
    pub amount: String,
    /// Whether a reader looks for it first.
    pub is_strong: bool,
}

impl Figure {
    fn new(name: impl Into<String>, amount: String) -> Self {
        Self { name: name.into(), amount, is_strong: false }
    }

    fn strong(name: impl Into<String>, amount: String) -> Self {
        Self { is_strong: true, ..Self::new(name, amount) }
    }
}

impl Fact {
    fn new(name: &str, value: impl Into<String>) -> Self {
        Self { name: name.to_owned(), value: value.into() }
    }
}

impl Seller {
    /// Reads the lines of a text, the name first.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let lines = text.split([';', '\n']).map(str::trim).filter(|line| !line.is_empty());
        Self { lines: lines.map(str::to_owned).collect() }
    }
}
