//! The page as blocks, and how they are written: as Markdown, and as HTML.

use super::{
    entry::{Entry, SERVED},
    plot::{self, Picture, grouped, money},
};
use crate::price_models::Scene;

/// The models of a family, each with its plot.
pub(super) struct Section<'a> {
    pub(super) title: &'static str,
    pub(super) says: &'static str,
    pub(super) entries: Vec<(&'static Entry, &'a Picture)>,
}

/// A piece of the page. Texts have `code`, **strong** words and [links](#to) of the page.
pub(super) enum Block<'a> {
    Heading(u8, String),
    Text(String),
    Code(&'static str),
    Table(Vec<Vec<String>>),
    Plot(&'static Entry, &'a Picture),
}

const HEAD: &str = "\
A price has a model: the rule that turns usage into an amount. This page says of each model what it does, what it \
costs, and when to take it. Every number of it, and every plot, comes from the models themselves.

Amounts are exact, and are rounded once, on the invoice. Usage below zero counts as none. A billing period starts \
anew at zero: tiers, packages and allocations are those of one period. Discounts, minimums and maximums that a plan or a \
subscription has beside its prices, credits and taxes come after the model.

A model that is prorated costs less for a period that is served in part: its whole amount by the days served, rounded to \
cents, and never its tiers or allocations. `unit` and `tiered` are so with `\"prorated\": true`.

The object of a model stands in its price beside the type: a price of `\"model_type\": \"unit\"` has its \
`unit_config`. A dot in a plot is the example, where that lies on a line.";

pub(super) fn blocks<'a>(scene: &Scene, sections: &[Section<'a>]) -> Vec<Block<'a>> {
    let mut blocks = vec![Block::Heading(1, "Price models".to_owned())];
    blocks.extend(HEAD.split("\n\n").map(|text| Block::Text(text.to_owned())));
    for section in sections {
        let rows = section
            .entries
            .iter()
            .map(|(entry, _)| vec![format!("[`{0}`](#{0})", entry.model), entry.short.to_owned()]);
        let head = [vec![section.title.to_owned(), String::new()]];
        blocks.push(Block::Table(head.into_iter().chain(rows).collect()));
    }
    for section in sections {
        blocks.push(Block::Heading(2, section.title.to_owned()));
        blocks.push(Block::Text(section.says.to_owned()));
        for (entry, picture) in &section.entries {
            blocks.extend(explain(scene, entry, picture));
        }
    }
    blocks
}

fn explain<'a>(scene: &Scene, entry: &'static Entry, picture: &'a Picture) -> Vec<Block<'a>> {
    let costs = scene.example(entry);
    let numbers = entry.sum.split(' ').map(|word| match word {
        "*" => "×".to_owned(),
        "-" => "−".to_owned(),
        other => grouped(other),
    });
    let numbers = numbers.collect::<Vec<_>>().join(" ");
    let mut example =
        format!("**Example.** {} {numbers} = **{} USD**.", entry.story, money(&costs));
    if entry.is_prorated {
        let (days, of) = SERVED;
        let less = money(&costs.prorate(days, of, 2));
        example.push_str(&format!(" Served on {days} of {of} days: **{less} USD**."));
    }
    let mut blocks = vec![
        Block::Heading(3, entry.model.to_owned()),
        Block::Text(entry.says.to_owned()),
        Block::Code(entry.config),
    ];
    if let [(properties, _), ..] = entry.usage
        && !properties.is_empty()
    {
        let head = vec!["Events with".to_owned(), entry.unit.to_owned()];
        let rows = entry.usage.iter().map(|(properties, units)| {
            vec![format!("`{}`", properties.replace('=', ": ")), grouped(units)]
        });
        blocks.push(Block::Table([head].into_iter().chain(rows).collect()));
    }
    blocks.extend([
        Block::Text(example),
        Block::Plot(entry, picture),
        Block::Text(format!("**When.** {}", entry.when)),
        Block::Text(format!("**Rather another.** {}", entry.rather)),
    ]);
    blocks
}

pub(super) fn markdown(blocks: &[Block<'_>]) -> String {
    let blocks = blocks.iter().map(|block| match block {
        Block::Heading(level, text) => format!("{} {text}", "#".repeat(usize::from(*level))),
        Block::Text(text) => text.clone(),
        Block::Code(text) => format!("```json\n{}\n```", text.trim()),
        Block::Table(rows) => {
            let rows = rows.iter().enumerate().map(|(place, row)| {
                let below = if place == 0 { "\n|---|---|" } else { "" };
                format!("| {} |{below}", row.join(" | "))
            });
            rows.collect::<Vec<_>>().join("\n")
        }
        Block::Plot(entry, _) => {
            format!("![Plot of what {} cost with {1}](pricing/{1}.svg)", entry.unit, entry.model)
        }
    });
    blocks.collect::<Vec<_>>().join("\n\n") + "\n"
}

/// What the page has beside the style of the description of the API.
const STYLE: &str = "\
body { max-width: 48rem; }
td:first-child { width: 44%; }
svg.plot { display: block; max-width: 100%; height: auto; margin: .75rem 0; border: 1px solid var(--line); border-radius: 6px; }
";

pub(super) fn html(blocks: &[Block<'_>]) -> String {
    let body = blocks.iter().map(|block| match block {
        Block::Heading(level, text) => {
            let id = text.to_lowercase().replace(' ', "-");
            format!("<h{level} id=\"{id}\">{}</h{level}>", broken(text))
        }
        Block::Text(text) => format!("<p>{}</p>", inline(text)),
        Block::Code(text) => {
            format!("<pre tabindex=\"0\"><code>{}</code></pre>", escaped(text.trim()))
        }
        Block::Table(rows) => {
            let row = |name: &str, row: &Vec<String>| {
                let cells = row.iter().map(|cell| format!("<{name}>{}</{name}>", inline(cell)));
                format!("<tr>{}</tr>", cells.collect::<String>())
            };
            let head = rows.iter().take(1).map(|of| row("th", of)).collect::<String>();
            let rest = rows.iter().skip(1).map(|of| row("td", of)).collect::<String>();
            format!("<table><thead>{head}</thead><tbody>{rest}</tbody></table>")
        }
        Block::Plot(_, picture) => picture.inline().trim().to_owned(),
    });
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>Price models</title>\n\
         <style>\n{}{STYLE}{}</style>\n</head>\n<body>\n{}\n</body>\n</html>\n",
        include_str!("../../../src/openapi/page.css"),
        plot::STYLE,
        body.collect::<Vec<_>>().join("\n"),
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

/// Writes a text with its code, strong words and links.
fn inline(text: &str) -> String {
    let code = marked(&escaped(text), "`", "code");
    let mut html = marked(&broken(&code), "**", "strong");
    while let Some((before, rest)) = html.split_once("](#")
        && let Some((before, words)) = before.rsplit_once('[')
        && let Some((anchor, after)) = rest.split_once(')')
    {
        let anchor = anchor.replace("<wbr>", "");
        html = format!("{before}<a href=\"#{anchor}\">{words}</a>{after}");
    }
    html
}

/// Lets long names break at their underscores.
fn broken(text: &str) -> String {
    text.replace('_', "_<wbr>")
}

/// Makes every second piece between marks an element.
fn marked(text: &str, mark: &str, name: &str) -> String {
    let pieces = text.split(mark).enumerate().map(|(place, piece)| match place % 2 {
        0 => piece.to_owned(),
        _ => format!("<{name}>{piece}</{name}>"),
    });
    pieces.collect()
}
