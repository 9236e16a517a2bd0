# `make demo` shows bufferbloat on this machine. `make check` runs the fast tests, `make test` all.
.PHONY: demo check test lint docs engine windows macos python plugin s3 site golden page bench release packages package install setup

# Rust that `./setup` has installed with rustup.
export PATH := $(or $(CARGO_HOME),$(HOME)/.cargo)/bin:$(PATH)

# Flags with which warnings are errors.
DENY = $$(packaging/warnings)

# Programs with fewer commands: see the features of shell/cli.
SET = -p fathom-cli --bin fathom --no-default-features --features
DEMO = -p fathom-cli --no-default-features --features demo --bin fathom-demo
demo:
	@./setup demo
	@cargo build --profile demo --locked $(DEMO)
	@./target/demo/fathom-demo

# Formatting, clippy, the unit tests of all crates, and the integration tests of core/. Needs only
# cargo: no root, no service, no network. The integration tests of shell/ are called `system`.
check:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- $(DENY)
	RUST_BACKTRACE=0 cargo test --locked --workspace --exclude fathom-bench-autorate --lib --bins --test it

# Everything, as root. Without backtraces, so that the message of a failed test is near the end of
# the output.
test: setup lint docs engine windows python plugin s3
	RUST_BACKTRACE=0 cargo test --workspace --features fathom-cli/engine --locked --no-fail-fast

# The program for Windows, as `make test` runs it with wine.
WINDOWS = x86_64-pc-windows-gnu
windows:
	cargo clippy $(SET) desktop --locked --target $(WINDOWS) -- $(DENY)
	cargo build $(SET) desktop --locked --target $(WINDOWS) --profile demo
	x86_64-w64-mingw32-gcc -O -shared -o target/$(WINDOWS)/demo/bcryptprimitives.dll \
		packaging/wine/bcryptprimitives.c -ladvapi32

# The program for macOS, which is linked with the optimization of development. Nothing here runs it.
macos:
	for triple in x86_64-apple-darwin aarch64-apple-darwin; do ( . packaging/tools; . packaging/macos/tools; \
		cargo clippy $(SET) desktop --locked --target $$triple -- $(DENY) && \
		cargo build $(SET) desktop --locked --target $$triple --profile demo ) || exit; done

# The Python package, in a virtual environment with what its tests need: target/python/venv.
python:
	packaging/python

# The example of a queue and a congestion control outside of the workspace.
PLUGIN = --locked --manifest-path examples/plugin/Cargo.toml --target-dir target/plugin
plugin:
	cargo clippy $(PLUGIN) --all-targets -- $(DENY)
	cargo test --quiet $(PLUGIN)

# A store with the API of S3, with which tests archive a history.
s3:
	. packaging/tools && need_s3

# `fathom trace` and `fathom sim` for browsers, which the page of `fathom serve` has inside.
engine:
	packaging/engine target/engine.js

# The static site: captures and simulations in the browser, gallery, documentation. It works from a
# disk, too.
site:
	./setup site
	packaging/site

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- $(DENY)
	cargo clippy $(DEMO) --locked -- $(DENY)
	cargo clippy $(SET) client --locked -- $(DENY)
	cargo clippy $(SET) desktop --locked -- $(DENY)
	cargo clippy $(SET) router --locked -- $(DENY)
	ui/verify

docs:
	RUSTDOCFLAGS="$(DENY)" cargo doc --workspace --no-deps --locked

# Rewrites the expected results in golden/ and docs/metrics.md. Read the diff before you commit it.
golden: engine
	UPDATE_GOLDEN=1 cargo test --workspace --features fathom-cli/engine --locked

# Opens a page of a million segments in headless Chromium and measures the cost of each frame.
page:
	mkdir -p target
	cargo run --release --locked -p fathom-cli --example sawtooth -- target/sawtooth.html
	node ui/check/page.mjs target/sawtooth.html target/page

# The figures in docs/figures.md, compared with other tools in the same run. Needs root; an hour and
# a half, of which that of browsers takes an hour.
bench: release
	bench/packages
	bench/all

# target/release/fathom as it is released: optimized with a profile of real work. Takes three times
# as long as a release build; adds the component llvm-tools.
release:
	./setup build
	packaging/engine target/engine.js
	packaging/release --features engine

# Packages for Linux in target/packages/: a static program as an archive, and for Debian, Fedora and
# Arch; and those of OpenWrt. docs/install.md describes them. Needs root, which also checks them.
TARGETS = x86_64 aarch64 armv7
ROUTERS = x86_64 aarch64 armv7 mips mipsel
packages:
	@./setup packages
	@for target in $(TARGETS); do packaging/package $$target && packaging/check $$target || exit; done
	@for target in $(ROUTERS); do packaging/router $$target && packaging/openwrt/check $$target || exit; done

# Those of one processor: make package TARGET=aarch64. MIPS has those of OpenWrt alone.
package:
	@$(MAKE) --no-print-directory packages ROUTERS=$(or $(TARGET),$(error make package TARGET=x86_64)) \
		TARGETS="$(filter-out mips mipsel,$(TARGET))"

install:
	./setup build
	packaging/engine target/engine.js
	cargo install --path shell/cli --features engine --locked
	$(or $(CARGO_HOME),$(HOME)/.cargo)/bin/fathom man --all $(MAN)

# man(1) searches this directory when the program is in PATH. A package sets another one.
MAN = $(or $(CARGO_HOME),$(HOME)/.cargo)/share/man/man1

setup:
	./setup test
