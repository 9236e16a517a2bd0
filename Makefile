# The door: `make demo` shows bufferbloat on this machine, `make test` runs every check. Each sets up what it needs.
.PHONY: demo test lint docs golden page bench fuzz release install setup

demo: setup
	cargo build --release --locked
	./target/release/fathom demo

# Without backtraces, which would stand between what a failed test says and the end of what is printed.
test: setup lint docs
	RUST_BACKTRACE=0 cargo test --workspace --locked

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
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
release: setup
	packaging/release

install: setup
	cargo install --path shell/cli --locked

setup:
	./setup
