//! Generates the client from the 3.0 form of the document, whose path is in `ACCRUE_OPENAPI`.

use std::{env, error::Error, fs, path::PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-env-changed=ACCRUE_OPENAPI");
    let path = env::var("ACCRUE_OPENAPI")
        .map_err(|_| "ACCRUE_OPENAPI is not set: .ci/openapi.sh sets it")?;
    println!("cargo:rerun-if-changed={path}");
    let document: openapiv3::OpenAPI = serde_json::from_str(&fs::read_to_string(path)?)?;
    let tokens = progenitor::Generator::default().generate_tokens(&document)?;
    let client = prettyplease::unparse(&syn::parse2(tokens)?);
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("client.rs"), client)?;
    Ok(())
}
