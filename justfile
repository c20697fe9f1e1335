# Lists the recipes.
_default:
    @just --list

# Checks everything and changes no file: what a change must pass.
verify:
    .ci/run

# Formats, and applies what the lints propose.
fix:
    cargo clippy --workspace --all-targets --fix --allow-dirty --allow-staged
    cargo fmt --all

# Runs the tests.
test *args:
    cargo test --workspace {{ args }}

# Prints which lines of the core its own tests run; `just coverage lines` those that none runs.
coverage *args:
    .ci/coverage.sh {{ args }}

# Runs the main job on the embedded default.
run *args:
    cargo run --release -p embedded -- {{ args }}

# Builds the server as one file that needs no library of the machine that it runs on; `just static debug` builds faster.
static *args:
    .ci/static.sh {{ args }}
