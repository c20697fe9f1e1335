use super::*;
use crate::expression::Expression;

/// Marks the place of the error by `¦`.
fn check(marked: &str, found: &str, expected: &str) {
    let position = marked.find('¦').unwrap();
    let text = marked.replacen('¦', "", 1);
    let error = Expression::parse(&text).expect_err(&text);
    assert_eq!((error.found(), error.expected()), (found, expected), "{text}");
    assert_eq!(error.position(), position, "{text}");
    assert_eq!(error.character(), text[..position].chars().count() + 1, "{text}");
}

#[test]
fn something_is_missing() {
    let end = |marked, expected| check(marked, "the end", expected);
    end("¦", "a condition");
    end(" \n\t¦", "a condition");
    end("a =¦", "a property or a literal");
    end("a = 1 AND ¦", "a condition");
    end("a = 1 OR¦", "a condition");
    end("NOT¦", "a condition");
    end("NOT NOT ¦", "a condition");
    end("(¦", "a condition");
    end("(a = 1¦", "`AND`, `OR` or `)`");
    end("(a¦", "an operator or `)`");
    end("((a = 1)¦", "`AND`, `OR` or `)`");
    end("1¦", "an operator");
    end("'a'¦", "an operator");
    end("event_name¦", "an operator");
    end("NOT timestamp¦", "an operator");
    end("a IS¦", "`NULL` or `NOT NULL`");
    end("a IS NOT¦", "`NULL`");
    end("a NOT¦", "`IN`");
    end("a IN¦", "`(`");
    end("a IN (¦", "a literal");
    end("a IN (1¦", "`,` or `)`");
    end("a IN (1,¦", "a literal");
}

#[test]
fn something_else_is_there() {
    check("a = 1 ¦b", "`b`", "`AND`, `OR` or the end");
    check("a ¦b", "`b`", "an operator or the end");
    check("a > 1 ¦AN b = 2", "`AN`", "`AND`, `OR` or the end");
    check("a = ¦= 1", "`=`", "a property or a literal");
    check("a ¦! = 1", "`!`", "an operator or the end");
    check("a < ¦> 1", "`>`", "a property or a literal");
    check("a = 1 ¦= 1", "`=`", "`AND`, `OR` or the end");
    check("a = 1 ¦IS NULL", "`IS`", "`AND`, `OR` or the end");
    check("(a = 1) ¦= TRUE", "`=`", "`AND`, `OR` or the end");
    check("(a) ¦= 1", "`=`", "`AND`, `OR` or the end");
    check("a = ¦(1)", "`(`", "a property or a literal");
    check("a = 1¦)", "`)`", "`AND`, `OR` or the end");
    check("a¦)", "`)`", "an operator or the end");
    check("(¦)", "`)`", "a condition");
    check("(a = 1 ¦, b = 2)", "`,`", "`AND`, `OR` or `)`");
    check("¦= 1", "`=`", "a condition");
    check("¦* = 1", "`*`", "a condition");
    check("a = 1¦;", "`;`", "`AND`, `OR` or the end");
    check("a IN ¦1", "`1`", "`(`");
    check("a IN (¦)", "`)`", "a literal");
    check("a IN (¦b)", "`b`", "a literal");
    check("a IN (¦\"b\")", "`\"b\"`", "a literal");
    check("a IN (1 ¦2)", "`2`", "`,` or `)`");
    check("a IN (1,¦)", "`)`", "a literal");
    check("a IN (¦(1))", "`(`", "a literal");
    check("a NOT ¦NULL", "`NULL`", "`IN`");
    check("a IS ¦TRUE", "`TRUE`", "`NULL` or `NOT NULL`");
    check("a IS NOT ¦NOT NULL", "`NOT`", "`NULL`");
    check("'a' ¦'b'", "`'b'`", "an operator");
    check("1 ¦AND b", "`AND`", "an operator");
    check("event_name ¦AND b", "`AND`", "an operator");
    check("a = lower(b) ¦(1)", "`(`", "`AND`, `OR` or the end");
    check(
        "a = CASE ¦END",
        "`END`",
        "`WHEN`, a property or a literal (a property of that name goes in double quotes)",
    );
    check("CASE WHEN a ¦, b THEN 1 END", "`,`", "an operator or `THEN`");
    check("CASE a WHEN 1 ¦OR 2 THEN 1 END", "`OR`", "`THEN`");
    check("a ¦LIKE 'b%'", "`LIKE`", "an operator or the end");
    check("a ¦BETWEEN 1 AND 2", "`BETWEEN`", "an operator or the end");
    check("a ¦-1", "`-1`", "an operator or the end");
    check("a = 1 ¦- 1", "`-`", "`AND`, `OR` or the end");
    check("a = 1 ¦-- comment", "`-`", "`AND`, `OR` or the end");
}

#[test]
fn a_name_is_no_function() {
    let functions = "one of coalesce, lower, upper, minute_floor_timestamp_millis, \
                     hour_floor_timestamp_millis, day_floor_timestamp_millis";
    check("¦a(1)", "`a`", functions);
    check("b = ¦floor(1)", "`floor`", functions);
    check("\"lower\"¦(b)", "`(`", "an operator or the end");
}

#[test]
fn a_character_belongs_to_nothing() {
    check("a = ¦~1", "`~`", "a property or a literal");
    check("¦$a = 1", "`$`", "a condition");
    check("a¦$ = 1", "`$`", "an operator or the end");
    check("a = ¦+1", "`+`", "a property or a literal");
    check("a = ¦-b", "`-`", "a property or a literal");
    check("a ¦&& b", "`&`", "an operator or the end");
    check("a = ¦`b`", "```", "a property or a literal");
    check("a¦\u{a0}= 1", "`\\u{a0}`", "an operator or the end");
    check("a = 1 ¦\0", "`\\u{0}`", "`AND`, `OR` or the end");
    check("¦🦀", "`🦀`", "a condition");
    check("a = 'größe' ¦~", "`~`", "`AND`, `OR` or the end");
}

#[test]
fn a_quote_is_not_closed() {
    let open = |marked, quote| {
        check(marked, "quoted text that does not end", &format!("a closing `{quote}`"));
    };
    open("a = ¦'b", '\'');
    open("a = ¦'b''", '\'');
    open("a = ¦'", '\'');
    open("a = 'ü' OR b = ¦'", '\'');
    open("a = 1 ¦' OR b = 2", '\'');
    open("¦\"a = 1", '"');
    open("a = 'x' AND ¦\"", '"');
}

#[test]
fn a_reserved_word_is_no_name() {
    let hint = "(a property of that name goes in double quotes)";
    let condition = format!("a condition {hint}");
    let operand = format!("a property or a literal {hint}");
    for word in ["AND", "or", "Is", "IN", "SELECT", "distinct", "FROM", "where"] {
        check(&format!("¦{word} = 1"), &format!("`{word}`"), &condition);
        check(&format!("a = ¦{word}"), &format!("`{word}`"), &operand);
    }
    for word in ["BETWEEN", "like", "when", "THEN", "Else", "END"] {
        check(&format!("b OR ¦{word} = 1"), &format!("`{word}`"), &condition);
        check(&format!("1 < ¦{word}"), &format!("`{word}`"), &operand);
    }
    check("a = ¦NOT b", "`NOT`", &operand);
    check("¦größe = 1", "`größe`", &condition);
    check("a = ¦naïve", "`naïve`", &operand);
}

#[test]
fn a_name_can_be_no_property() {
    let expected = "the name of a property, of 1 to 128 bytes";
    check("¦\"\" = 1", "`\"\"`", expected);
    let long = "n".repeat(129);
    check(&format!("a = ¦{long}"), &format!("`{}…`", "n".repeat(40)), expected);
    assert!(Expression::parse(&format!("a = {}", "n".repeat(128))).is_ok());
}

#[test]
fn a_number_is_none_or_out_of_bounds() {
    let broken = "a number as JSON writes it";
    check("a = ¦.5", "`.5`", broken);
    check("a = ¦5.", "`5.`", broken);
    check("a = ¦-.5", "`-.5`", broken);
    check("a = ¦1e", "`1e`", broken);
    check("a = ¦1e+", "`1e+`", broken);
    check("a = ¦0x1f", "`0x1f`", broken);
    check("a = ¦1_000", "`1_000`", broken);
    check("a = ¦1.2.3", "`1.2.3`", broken);
    check("a = ¦1and b", "`1and`", broken);
    check("a IN (1, ¦1x)", "`1x`", broken);
    check("a = ¦1e3000000", "`1e3000000`", "a number below 10^28 in magnitude");
    check("a = ¦-1e28", "`-1e28`", "a number below 10^28 in magnitude");
    check("a = ¦1e-3000000", "`1e-3000000`", "a number with at most 28 digits behind the point");
    let digits = "9".repeat(29);
    check(
        &format!("a = ¦{digits}"),
        &format!("`{digits}`"),
        "a number with at most 28 significant digits",
    );
}

#[test]
fn a_string_beside_timestamp_is_an_instant() {
    let expected = "a date and time as in '2026-03-01T00:00:00Z'";
    check("timestamp > ¦'yesterday'", "`'yesterday'`", expected);
    check("¦'2026-03-01' <= timestamp", "`'2026-03-01'`", expected);
    check("b OR timestamp = ¦'1969-12-31T00:00:00Z'", "`'1969-12-31T00:00:00Z'`", expected);
    check("timestamp IN ('2026-03-01T00:00:00Z', ¦'')", "`''`", expected);
}

#[test]
fn what_is_found_is_shown_in_one_line_that_is_not_long() {
    check("a ¦'b\n\tc d'", "`'b\\n\\tc d'`", "an operator or the end");
    let long = format!("a ¦'{}'", "ü".repeat(100));
    check(&long, &format!("`'{}…`", "ü".repeat(39)), "an operator or the end");
}

#[test]
fn a_text_has_a_longest_length() {
    let text = |bytes: usize| format!("a = '{}'", "x".repeat(bytes - 6));
    assert!(Expression::parse(&text(limits::EXPRESSION_BYTES - 1)).is_ok());
    assert!(Expression::parse(&text(limits::EXPRESSION_BYTES)).is_ok());
    let error = Expression::parse(&text(limits::EXPRESSION_BYTES + 1)).unwrap_err();
    let expect = "at character 4097: found a text of 4097 bytes, expected at most 4096";
    assert_eq!(error.to_string(), expect);
    assert_eq!(error.position(), limits::EXPRESSION_BYTES);
    let error = Expression::parse(&format!("a{}", "ü".repeat(3_000))).unwrap_err();
    assert_eq!(error.position(), limits::EXPRESSION_BYTES - 1);
}

#[test]
fn levels_have_a_greatest_number() {
    let bound = limits::EXPRESSION_DEPTH;
    let expected = "at most 64 levels of `NOT`, `(` and `CASE`";
    let nested = |levels: usize| format!("{}a{}", "(".repeat(levels), ")".repeat(levels));
    assert!(Expression::parse(&nested(bound - 1)).is_ok());
    assert!(Expression::parse(&nested(bound)).is_ok());
    check(&format!("{}¦({}", "(".repeat(bound), nested(1)), "`(`", expected);
    assert!(Expression::parse(&format!("{}a", "NOT ".repeat(bound))).is_ok());
    check(&format!("{}¦NOT a", "NOT ".repeat(bound)), "`NOT`", expected);
    check(&format!("{}¦NOT (a)", "NOT (".repeat(bound / 2)), "`NOT`", expected);
    // What is closed counts no longer, and what is no level never did.
    let beside = vec![nested(bound); 10].join(" AND ");
    assert!(Expression::parse(&beside).is_ok());
    let postfix = vec!["a IS NOT NULL AND a NOT IN (1)"; 100].join(" OR ");
    assert!(Expression::parse(&postfix).is_ok());
}

#[test]
fn the_longest_texts_fit_a_small_stack() {
    let fill = |part: &str, last: &str| {
        let times = (limits::EXPRESSION_BYTES - last.len()) / part.len();
        part.repeat(times) + last
    };
    let deep = |open: &str, part: &str, close: &str| {
        let levels = limits::EXPRESSION_DEPTH;
        let chain = [part; 8].join("");
        format!("{}{chain}a{}", open.repeat(levels), close.repeat(levels))
    };
    let long = [
        fill("a AND ", "a"),
        fill("a OR ", "a"),
        fill("a OR b AND ", "a"),
        fill("a AND NOT b OR ", "a"),
        fill("(a)OR ", "a"),
        format!("a IN (1{})", ",1".repeat(2_000)),
        deep("(b AND c OR ", "d AND e OR ", ")"),
        deep("(b OR c AND ", "d OR e AND ", ")"),
        deep("NOT ", "d OR ", ""),
    ];
    let broken = [
        fill("(", ""),
        fill(")", ""),
        fill("NOT ", ""),
        fill("NOT(", ""),
        fill("'", ""),
        fill("\"", ""),
        fill("a=", ""),
        fill("1e", ""),
        fill("a IN(", ""),
        fill("-", ""),
    ];
    let work = move || {
        let event = crate::expression::sample::event();
        for text in long {
            let expression = Expression::parse(&text).unwrap();
            let copy = expression.clone();
            assert_eq!(copy.evaluate(&(&event).into()), expression.evaluate(&(&event).into()));
            assert_eq!(copy, expression);
            assert!(!format!("{copy:?}").is_empty());
        }
        for text in broken {
            assert!(Expression::parse(&text).is_err());
        }
    };
    // The main thread of a program has 8 MiB, others 2 MiB.
    std::thread::Builder::new().stack_size(512 * 1024).spawn(work).unwrap().join().unwrap();
}
