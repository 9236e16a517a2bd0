# The door: `make demo` shows bufferbloat on this machine, `make test` runs every check. Each sets up what it needs.
.PHONY: demo test lint docs golden bench fuzz install setup

demo: setup
	cargo build --release --locked
	./target/release/fathom demo

test: setup lint docs
	cargo test --workspace --locked

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings

docs:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

# Rewrites the expected results in golden/ and docs/metrics.md; read the difference before you commit it.
golden:
	UPDATE_GOLDEN=1 cargo test --workspace --locked

# The figures in docs/figures.md, beside the peers, in the same run. Needs root; about 20 minutes.
bench: setup
	bench/packages
	cargo build --release --locked --workspace
	bench/all

install: setup
	cargo install --path shell/cli --locked

setup:
	./setup
