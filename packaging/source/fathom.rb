# The formula of Homebrew.
# packaging/source/build writes what is between @.
class Fathom < Formula
  desc "Measures, finds, explains and fixes bufferbloat"
  homepage "@URL@"
  url "@URL@/fathom-@VERSION@.tar.gz"
  sha256 "@SHA256@"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build

  def install
    # Other commands need Linux.
    set = OS.mac? ? %w[--no-default-features --features desktop] : []
    system "cargo", "install", *set, *std_cargo_args(path: "shell/cli")
    generate_completions_from_executable(bin/"fathom", "completions")
    system bin/"fathom", "man", "--quiet", "--all", man1
  end

  test do
    assert_match "310 ms", shell_output("#{bin}/fathom size 256p 10mbit")
  end
end
