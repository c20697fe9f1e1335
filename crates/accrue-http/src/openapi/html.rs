//! HTML that is right by how it is made: text becomes markup by being escaped only.

/// Markup, whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Markup(String);

/// Escapes a text.
pub(super) fn text(text: &str) -> Markup {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    Markup(escaped)
}

/// Escapes a text, in which what stands between backticks is code.
pub(super) fn prose(words: &str) -> Markup {
    let pieces = words.split('`').enumerate();
    let pieces = pieces.map(|(place, piece)| match place % 2 {
        0 => text(piece),
        _ => element("code", &[], [text(piece)]),
    });
    pieces.collect()
}

/// Makes an element.
pub(super) fn element(
    name: &'static str,
    attributes: &[(&'static str, &str)],
    children: impl IntoIterator<Item = Markup>,
) -> Markup {
    let mut markup = format!("<{name}");
    for (name, value) in attributes {
        markup.push_str(&format!(" {name}=\"{}\"", text(value).0));
    }
    markup.push('>');
    markup.push_str(&children.into_iter().collect::<Markup>().0);
    markup.push_str(&format!("</{name}>"));
    Markup(markup)
}

pub(super) fn paragraph(words: &str) -> Markup {
    element("p", &[], [prose(words)])
}

pub(super) fn table(head: &[&str], rows: impl IntoIterator<Item = Markup>) -> Markup {
    let head = head.iter().map(|cell| element("th", &[], [text(cell)]));
    let head = element("thead", &[], [element("tr", &[], head)]);
    element("table", &[], [head, element("tbody", &[], rows)])
}

pub(super) fn code(words: &str) -> Markup {
    element("code", &[], [text(words)])
}

pub(super) fn cells(cells: impl IntoIterator<Item = Markup>) -> Markup {
    element("tr", &[], cells.into_iter().map(|cell| element("td", &[], [cell])))
}

/// Makes a document.
pub(super) fn document(title: &str, style: &'static str, body: Markup) -> String {
    let Markup(title) = text(title);
    let Markup(body) = body;
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )
}

impl FromIterator<Markup> for Markup {
    fn from_iter<I: IntoIterator<Item = Self>>(pieces: I) -> Self {
        Self(pieces.into_iter().map(|Self(piece)| piece).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_becomes_markup() {
        let nasty = r#"<script>"&'</script>"#;
        let escaped = "&lt;script&gt;&quot;&amp;&#39;&lt;/script&gt;";
        assert_eq!(text(nasty), Markup(escaped.to_owned()));
        assert_eq!(prose(&format!("a `{nasty}` b")), Markup(format!("a <code>{escaped}</code> b")));
        assert_eq!(
            element("a", &[("href", nasty)], [text(nasty), text("!")]),
            Markup(format!("<a href=\"{escaped}\">{escaped}!</a>"))
        );
        assert!(document(nasty, "", text(nasty)).contains(&format!("<title>{escaped}</title>")));
    }
}
