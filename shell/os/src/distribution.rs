//! How to install what is missing, on this distribution.
use std::fs::read_to_string;
use std::path::Path;

/// What can be missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// The kernel module of CAKE.
    Cake,
    /// The certificate authorities that programs trust.
    Certificates,
}

/// The command that installs it, from the files below `root`, which is `/` except in tests.
#[must_use]
pub fn install_command(root: &Path, wanted: Wanted, kernel: &str) -> String {
    let file = |name: &str| read_to_string(root.join(name)).unwrap_or_default();
    let release = [file("etc/os-release"), file("usr/lib/os-release")].concat();
    let names = |key: &str| {
        let value = release.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
        value.trim_matches(['"', '\'']).to_owned()
    };
    let like = format!(" {} {} ", names("ID="), names("ID_LIKE="));
    let is = |one: &&str| like.contains(&format!(" {one} "));
    // Where a module is not part of the package of the kernel.
    let extra = format!("linux-modules-extra-{kernel}");
    let known = [
        (&["openwrt"][..], openwrt(root), "kmod-sched-cake", "ca-bundle"),
        (&["ubuntu"], "sudo apt install", &extra, "ca-certificates"),
        (&["debian"], "sudo apt install", "", "ca-certificates"),
        (&["fedora", "rhel"], "sudo dnf install", "kernel-modules-extra", "ca-certificates"),
        (&["arch"], "sudo pacman -S", "", "ca-certificates"),
        (&["alpine"], "sudo apk add", "", "ca-certificates"),
        (&["suse", "opensuse"], "sudo zypper install", "", "ca-certificates"),
    ];
    let found = known.iter().find(|(ids, ..)| ids.iter().any(is));
    match (wanted, found) {
        (Wanted::Cake, Some((_, command, package, _))) if !package.is_empty() => {
            format!("{command} {package}")
        }
        (Wanted::Cake, _) => "sudo modprobe sch_cake".to_owned(),
        (Wanted::Certificates, Some((_, command, _, package))) => format!("{command} {package}"),
        (Wanted::Certificates, None) => "install ca-certificates".to_owned(),
    }
}

/// Version 25.12 has another package manager than those before.
fn openwrt(root: &Path) -> &'static str {
    if root.join("bin/opkg").exists() { "opkg install" } else { "apk add" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_distribution_has_its_own_command() {
        let both = |name: &str, release: &str| {
            let root =
                std::env::temp_dir().join(format!("fathom-distribution-{}-{name}", std::process::id()));
            std::fs::create_dir_all(root.join("etc")).unwrap();
            std::fs::write(root.join("etc/os-release"), release).unwrap();
            let found =
                [Wanted::Cake, Wanted::Certificates].map(|wanted| install_command(&root, wanted, "6.8"));
            std::fs::remove_dir_all(root).unwrap();
            found.join("; ")
        };
        assert_eq!(both("debian", "ID=debian\n"), "sudo modprobe sch_cake; sudo apt install ca-certificates");
        assert_eq!(
            both("ubuntu", "NAME=\"Ubuntu\"\nID=ubuntu\nID_LIKE=debian\n"),
            "sudo apt install linux-modules-extra-6.8; sudo apt install ca-certificates"
        );
        assert_eq!(
            both("rocky", "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n"),
            "sudo dnf install kernel-modules-extra; sudo dnf install ca-certificates"
        );
        assert_eq!(both("openwrt", "ID=\"openwrt\"\n"), "apk add kmod-sched-cake; apk add ca-bundle");
        assert_eq!(both("none", ""), "sudo modprobe sch_cake; install ca-certificates");
    }
}
