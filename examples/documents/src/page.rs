//! A document as a page.

use std::fmt::Write as _;

use crate::{Entry, Figure, Paper, Party};

/// How a page looks.
const STYLE: &str = "\
:root{color-scheme:light dark}\
body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}\
h1{font-size:1.1rem;margin:0}.headline{font-size:1.8rem;font-weight:600;margin:.5rem 0 0}\
p{margin:.2rem 0}table{width:100%;border-collapse:collapse;margin:1.5rem 0}\
td,th{text-align:left;padding:.4rem 0;vertical-align:top;border-bottom:1px solid #8884}\
td:last-child,th:last-child{text-align:right;font-variant-numeric:tabular-nums}\
.small{font-size:.85rem;opacity:.75}.strong{font-weight:600}\
a{display:inline-block;margin-right:1.5rem}";

impl Paper {
    /// Makes a page of it, with links to files, each with its name and address.
    #[must_use]
    pub fn page(&self, links: &[(String, String)]) -> String {
        let mut page = String::new();
        // Writing to a text does not fail.
        let _ = self.write_page(&mut page, links);
        page
    }

    fn write_page(&self, page: &mut String, links: &[(String, String)]) -> std::fmt::Result {
        let title = escaped(&format!("{} {}", self.title, self.number));
        write!(
            page,
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width\">\
             <meta name=\"robots\" content=\"noindex\">\
             <title>{title}</title><style>{STYLE}</style></head><body><main><h1>{title}</h1>"
        )?;
        let seller = self.seller.lines.first().map_or("", String::as_str);
        write!(page, "<p class=\"small\">{}</p>", escaped(seller))?;
        write!(page, "<p class=\"headline\">{}</p>", escaped(&self.headline))?;
        write!(page, "<p>{}</p><p>", escaped(&self.subline))?;
        for (name, address) in links {
            write!(page, "<a href=\"{}\">{}</a>", escaped(address), escaped(name))?;
        }
        page.push_str("</p>");
        for Party { title, lines } in self.parties.iter().chain(&self.notes) {
            let lines: Vec<_> = lines.iter().map(|line| escaped(line)).collect();
            write!(page, "<p class=\"small\">{}: {}</p>", escaped(title), lines.join(", "))?;
        }
        write!(
            page,
            "<table><thead><tr><th>Description</th><th>Amount in {}</th></tr></thead><tbody>",
            escaped(&self.currency)
        )?;
        self.entries.iter().try_for_each(|entry| write_entry(page, entry))?;
        self.figures.iter().try_for_each(|figure| write_figure(page, figure))?;
        page.push_str("</tbody></table></main></body></html>");
        Ok(())
    }
}

fn write_entry(page: &mut String, entry: &Entry) -> std::fmt::Result {
    let amount = entry.total.as_ref().unwrap_or(&entry.amount);
    let quantity = match entry.quantity.as_str() {
        "" => String::new(),
        quantity => format!("{} \u{d7} ", escaped(quantity)),
    };
    write!(
        page,
        "<tr><td>{quantity}{}<br><span class=\"small\">{}</span></td><td>{}</td></tr>",
        escaped(&entry.name),
        escaped(&entry.period),
        escaped(amount)
    )
}

fn write_figure(
    page: &mut String,
    Figure { name, amount, is_strong }: &Figure,
) -> std::fmt::Result {
    let class = if *is_strong { "strong" } else { "" };
    let (name, amount) = (escaped(name), escaped(amount));
    write!(page, "<tr class=\"{class}\"><td>{name}</td><td>{amount}</td></tr>")
}

/// Writes a text so that a page shows it, whatever is in it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            letter => out.push(letter),
        }
    }
    out
}
