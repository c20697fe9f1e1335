//! Papers as files: what is on them is found in their text, on however many sheets.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use example_documents::{Entry, Fact, Figure, Paper, Party, Seller};

fn figure(name: &str, amount: &str, is_strong: bool) -> Figure {
    Figure { name: name.to_owned(), amount: amount.to_owned(), is_strong }
}

fn entry(name: &str, number: usize) -> Entry {
    let part =
        |name: &str, quantity: &str, amount: &str| [name, quantity, amount].map(str::to_owned);
    Entry {
        name: name.to_owned(),
        period: "1 March 2026 \u{2013} 31 March 2026".to_owned(),
        quantity: format!("{number}160"),
        amount: format!("{number}130.00"),
        parts: vec![
            part("0 to 100 at 1", "100", "100.00"),
            part("Above 100 at 0.5", "60", "30.00"),
        ],
        changes: vec![figure("Discount of 10 %", "\u{2212}13.00", false)],
        total: Some(format!("{number}117.00")),
    }
}

fn paper(entries: usize) -> Paper {
    let lines = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>();
    let fact = |name: &str, value: &str| Fact { name: name.to_owned(), value: value.to_owned() };
    let mut all: Vec<_> = (1..=entries).map(|number| entry("Requests", number)).collect();
    if let Some(first) = all.first_mut() {
        first.name = "A name that is so long that it does not stand in one line: requests of the interface for programs, by month".to_owned();
    }
    Paper {
        title: "Invoice".to_owned(),
        number: "QTRWXB-00007".to_owned(),
        seller: Seller::parse(
            "Łódź Computing Sp. z o.o.; ul. Piotrkowska 1; 90-001 Łódź; PL 725-000-00-00",
        ),
        parties: vec![
            Party {
                title: "Billed to".to_owned(),
                lines: lines(&[
                    "Ελένη Παπαδοπούλου",
                    "Οδός Ερμού 5",
                    "105 63 Αθήνα",
                    "Ελλάδα",
                    "eleni@example.com",
                    "Tax ID EL 123456789",
                ]),
            },
            Party {
                title: "Shipped to".to_owned(),
                lines: lines(&["Анна Каренина", "Невский проспект 28", "191186 Санкт-Петербург"]),
            },
        ],
        facts: vec![
            fact("Invoice number", "QTRWXB-00007"),
            fact("Invoice date", "1 April 2026"),
            fact("Due date", "1 May 2026"),
        ],
        headline: "EUR 1,110.40 due 1 May 2026".to_owned(),
        subline: "Please name the invoice number when you pay.".to_owned(),
        currency: "EUR".to_owned(),
        entries: all,
        figures: vec![
            figure("Subtotal", "1,130.00", false),
            figure("Adjustments and credits", "\u{2212}13.00", false),
            figure("VAT 20 %", "23.40", false),
            figure("Total", "1,140.40", true),
            figure("From your balance", "\u{2212}30.00", false),
            figure("Amount due", "EUR 1,110.40", true),
        ],
        notes: vec![Party {
            title: "Note".to_owned(),
            lines: lines(&["Thank you for your order. Reverse charge does not apply."]),
        }],
    }
}

/// Makes a file of it, leaves that for people to look at, and returns its text without white space.
fn text(paper: &Paper, name: &str) -> String {
    let pdf = paper.pdf().unwrap();
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(path, &pdf).unwrap();
    squeezed(&pdf_extract::extract_text_from_mem(&pdf).unwrap())
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

#[track_caller]
fn has(text: &str, part: &str) {
    assert!(text.contains(&squeezed(part)), "{part} is not in {text}");
}

/// Expects all that is said on a paper.
#[track_caller]
fn has_all(text: &str, paper: &Paper) {
    let parties = paper.parties.iter().chain(&paper.notes);
    let lines = parties.flat_map(|party| party.lines.iter().chain([&party.title]));
    let facts = paper.facts.iter().flat_map(|fact| [&fact.name, &fact.value]);
    let figures = paper.figures.iter().flat_map(|figure| [&figure.name, &figure.amount]);
    let entries = paper.entries.iter().flat_map(|entry| {
        let changes = entry.changes.iter().flat_map(|of| [&of.name, &of.amount]);
        let parts = entry.parts.iter().flatten();
        let own = [&entry.period, &entry.quantity, &entry.amount];
        own.into_iter().chain(&entry.total).chain(changes).chain(parts)
    });
    let own = [&paper.title, &paper.number, &paper.headline, &paper.subline];
    let all = own.into_iter().chain(&paper.seller.lines).chain(lines);
    for part in all.chain(facts).chain(figures).chain(entries) {
        has(text, part);
    }
}

#[test]
fn all_that_is_said_is_text_of_the_file() {
    let paper = paper(2);
    let text = text(&paper, "invoice.pdf");
    has_all(&text, &paper);
    has(&text, "Page 1 of 1");
}

#[test]
fn a_long_one_goes_on_from_sheet_to_sheet() {
    let paper = paper(40);
    let text = text(&paper, "long.pdf");
    has_all(&text, &paper);
    let sheets = text.matches("Page").count();
    assert!(sheets > 3, "{sheets} sheets");
    has(&text, &format!("Page {sheets} of {sheets}"));
    assert!(text.matches("AmountinEUR").count() > 3, "sheets have the head of the table");
}

#[test]
fn whatever_is_long_is_broken() {
    let mut paper = paper(1);
    let long = "\u{df}".repeat(400);
    paper.entries.iter_mut().for_each(|entry| entry.name.clone_from(&long));
    paper.notes.iter_mut().for_each(|note| note.lines = vec!["word ".repeat(900)]);
    let text = text(&paper, "broken.pdf");
    assert_eq!(text.matches('\u{df}').count(), 400, "no letter is lost");
    assert_eq!(text.matches("word").count(), 900);
}

#[test]
fn a_page_shows_whatever_is_in_a_text() {
    let mut paper = paper(1);
    paper.headline = "<script>\"&'".to_owned();
    let links = [("PDF".to_owned(), "https://example.com/?a=1&b=2".to_owned())];
    let page = paper.page(&links);
    assert!(page.contains("&lt;script&gt;&quot;&amp;&#39;"), "{page}");
    assert!(page.contains("<a href=\"https://example.com/?a=1&amp;b=2\">PDF</a>"), "{page}");
    assert!(!page.contains("<script"), "{page}");
}
