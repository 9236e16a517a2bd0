# `make demo` shows bufferbloat on this machine. `make check` runs the fast tests, `make test` all.
.PHONY: demo check test lint docs golden page bench release install setup

# Rust that `./setup` has installed with rustup.
export PATH := $(or $(CARGO_HOME),$(HOME)/.cargo)/bin:$(PATH)

# One program without the crates of the other commands: see the feature `demo` of shell/cli.
DEMO = -p fathom-cli --no-default-features --features demo --bin fathom-demo
demo:
	@./setup demo
	@cargo build --profile demo --locked $(DEMO)
	@./target/demo/fathom-demo

# Formatting, clippy, and the tests of core/ and of each crate's own modules. Needs cargo alone: no root, no service, no network.
check:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo clippy $(DEMO) --locked -- -D warnings
	RUST_BACKTRACE=0 cargo test --locked --lib --bins --workspace --exclude fathom-bench-autorate
	RUST_BACKTRACE=0 cargo test --locked $(CORE) --tests

# The packages of core/.
CORE = $(shell sed -n 's/^name = "\(fathom-.*\)"/-p \1/p' core/*/*/Cargo.toml)

# Everything, as root. Without backtraces, which would stand between what a failed test says and the end of what is printed.
test: setup lint docs
	RUST_BACKTRACE=0 cargo test --workspace --locked

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo clippy $(DEMO) --locked -- -D warnings
	ui/verify

docs:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

# Rewrites the expected results in golden/ and docs/metrics.md; read the difference before you commit it.
golden:
	UPDATE_GOLDEN=1 cargo test --workspace --locked

# The page of a million segments in a headless Chromium, with what each picture costs.
page:
	mkdir -p target
	cargo run --release --locked -p fathom-cli --example sawtooth -- target/sawtooth.html
	node ui/check/page.mjs target/sawtooth.html target/page

# The figures in docs/figures.md, beside the peers, in the same run. Needs root; about 20 minutes.
bench: release
	bench/packages
	bench/all

# target/release/fathom as it is released: laid out by a profile of real work. Three builds' time; adds the component llvm-tools.
release:
	./setup build
	packaging/release

install:
	./setup build
	cargo install --path shell/cli --locked

setup:
	./setup test
