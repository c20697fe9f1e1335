//! Documents (store 8).

use accrue::{
    limits,
    store::{Batch, Document},
};

use crate::{
    Harness,
    fixtures::{document_of_size, key, numbered, text},
    subject::Subject,
};

/// Objects, arrays, nulls and empty values, nested and not, come back as equal JSON values.
pub fn documents_come_back_with_the_same_value(harness: &dyn Harness) {
    check(
        harness,
        &[
            "{}",
            r#"{"v":1}"#,
            r#" { "v" : 1 , "spaced" : [ 1 , 2 ] } "#,
            r#"{"b":1,"a":2,"B":3,"":4," ":5}"#,
            r#"{"null":null,"true":true,"false":false,"empty":"","none":[],"nothing":{}}"#,
            r#"{"list":[1,"1",null,[1,[2,[3,[]]]],{"a":{"b":{"c":{}}}}]}"#,
            r#"{"decimal":"0.10","exact":"123456789012345678901234567890.123456789","zeros":"007"}"#,
            r#"{"date":"2024-02-30","bool":"true","null":"null","number":"1e3"}"#,
            r#"{"a.b":1,"a[0]":2,"$set":3,"a/b":4,"a~b":5,"__proto__":6,"_id":7,"key":8}"#,
            r#"{"list":[3,1,2,1,3]}"#,
        ],
    );
}

/// Integers below 2^53 come back exactly, of either sign.
pub fn the_greatest_integers_come_back(harness: &dyn Harness) {
    check(
        harness,
        &[
            r#"{"zero":0,"one":1,"minus":-1}"#,
            r#"{"i32":2147483647,"above":2147483648,"u32":4294967295,"above_u32":4294967296}"#,
            r#"{"f32":16777217,"odd":9007199254740990,"greatest":9007199254740991}"#,
            r#"{"least":-9007199254740991,"list":[9007199254740991,-9007199254740990]}"#,
        ],
    );
}

/// Strings come back with every character that JSON can write, as keys and as values.
pub fn text_comes_back_to_the_letter(harness: &dyn Harness) {
    check(
        harness,
        &[
            r#"{"escapes":"\" \\ \/ \b \f \n \r \t","control":"\u0001\u001f\u007f"}"#,
            r#"{"zero":"\u0000 and after","line":"\u2028\u2029"}"#,
            r#"{"é":"Zürich, Łódź, Αθήνα, Київ, 東京, العربية","pair":"\ud83d\ude00","raw":"😀"}"#,
            "{\"composed\":\"\u{E9}\",\"decomposed\":\"e\u{301}\",\"bom\":\"\u{FEFF}\"}",
            r#"{"space":"  both  ","quote":"it's; DROP TABLE row; --","percent":"%s %00 $1 ?"}"#,
            "{\"noncharacter\":\"\u{FFFF}\",\"private\":\"\u{E000}\",\"last\":\"\u{10FFFF}\"}",
        ],
    );
}

/// A document of 64 KiB comes back, and those of the sizes around it.
pub fn the_largest_document_comes_back(harness: &dyn Harness) {
    let store = Subject::open(harness);
    let sizes = [1_000, 4_096, 32_767, 65_535, limits::DOCUMENT_BYTES];
    for (at, size) in sizes.into_iter().enumerate() {
        let document = document_of_size(size, at);
        store.committed(Batch::new().put(numbered(at), document.clone()));
        let found = store.present(&numbered(at)).document;
        assert!(found.same_value(&document), "a document of {size} bytes came back as another");
    }
    let wide = "🦀".repeat((limits::DOCUMENT_BYTES - 8) / 4);
    let document = text(&format!(r#"{{"v":"{wide}"}}"#));
    store.committed(Batch::new().put(key("wide"), document.clone()));
    assert!(store.present(&key("wide")).document.same_value(&document));
}

/// Writes each document, and rewrites it with the next.
fn check(harness: &dyn Harness, documents: &[&str]) {
    let store = Subject::open(harness);
    let same = |found: &Document, written: &Document| {
        assert!(found.same_value(written), "{written:?} came back as {found:?}");
    };
    for (at, document) in documents.iter().map(|document| text(document)).enumerate() {
        let batch = Batch::new().put(numbered(at), document.clone());
        store.committed(batch.put(key("same row"), document.clone()));
        same(&store.present(&numbered(at)).document, &document);
        same(&store.present(&key("same row")).document, &document);
    }
    for (at, document) in documents.iter().map(|document| text(document)).enumerate() {
        same(&store.present(&numbered(at)).document, &document);
    }
}
