//! Reapplies a fix at boot: a systemd unit, or an init script for OpenWrt.
use crate::error::ApplyError;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// The init system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum System {
    /// systemd.
    Systemd,
    /// OpenWrt's procd, with an init script.
    OpenWrt,
}

/// The boot files of one interface.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Boot {
    /// The init system.
    pub system: System,
    /// The unit or script.
    pub file: PathBuf,
    /// The link that enables it.
    pub link: PathBuf,
}

/// Start order in OpenWrt: the network starts at 20, and firewall and hotplug are done by 95.
const START: u32 = 95;

impl Boot {
    /// The boot files of an interface on the system below `root`.
    ///
    /// # Errors
    /// If the init system is neither of the two.
    pub fn of(root: &Path, device: &str) -> Result<Boot, ApplyError> {
        let name = format!("fathom-fix-{device}");
        if root.join("etc/openwrt_release").exists() {
            let file = root.join("etc/init.d").join(&name);
            let link = root.join("etc/rc.d").join(format!("S{START}{name}"));
            return Ok(Boot { system: System::OpenWrt, file, link });
        }
        let units = root.join("etc/systemd/system");
        if units.is_dir() {
            let unit = format!("{name}.service");
            let link = units.join("multi-user.target.wants").join(&unit);
            return Ok(Boot { system: System::Systemd, file: units.join(unit), link });
        }
        let words = "unsupported init system: neither systemd (/etc/systemd/system) nor OpenWrt (/etc/openwrt_release) found";
        Err(ApplyError::words("start at boot", words))
    }
    /// The unit or script that runs the command `apply` at boot and `undo` at stop.
    #[must_use]
    pub fn text(&self, device: &str, apply: &[String], undo: &[String]) -> String {
        let (apply, undo) = (join(apply, self.system), join(undo, self.system));
        match self.system {
            System::Systemd => format!(
                "# Written by fathom fix --boot; fathom fix --undo {device} removes it.\n\
                 [Unit]\n\
                 Description=Queue management (fathom fix) on {device}\n\
                 BindsTo=sys-subsystem-net-devices-{unit}.device\n\
                 After=sys-subsystem-net-devices-{unit}.device network.target\n\n\
                 [Service]\n\
                 Type=oneshot\n\
                 RemainAfterExit=yes\n\
                 ExecStart={apply}\n\
                 ExecStop={undo}\n\n\
                 [Install]\n\
                 WantedBy=multi-user.target\n",
                unit = unit_name(device)
            ),
            System::OpenWrt => format!(
                "#!/bin/sh /etc/rc.common\n\
                 # Written by fathom fix --boot; fathom fix --undo {device} removes it.\n\
                 START={START}\n\
                 STOP=10\n\
                 start() {{\n\t{apply}\n}}\n\
                 stop() {{\n\t{undo}\n}}\n"
            ),
        }
    }
    /// Writes and enables the unit or script.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&self, text: &str) -> Result<(), ApplyError> {
        let make = || -> io::Result<()> {
            if let Some(folder) = self.link.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(&self.file, text)?;
            if self.system == System::OpenWrt {
                fs::set_permissions(&self.file, fs::Permissions::from_mode(0o755))?;
            }
            remove(&self.link)?;
            symlink(self.target(), &self.link)
        };
        make().map_err(ApplyError::system(self.file.display().to_string()))
    }
    /// Target of the link, as created by `systemctl enable` or `service NAME enable`.
    fn target(&self) -> PathBuf {
        let name = self.file.file_name().unwrap_or_default();
        Path::new(if self.system == System::OpenWrt { "../init.d" } else { ".." }).join(name)
    }
    /// Removes the files; returns whether they existed.
    ///
    /// # Errors
    /// If a file cannot be removed.
    pub fn remove(&self) -> Result<bool, ApplyError> {
        let both = || -> io::Result<bool> { Ok(remove(&self.link)? | remove(&self.file)?) };
        both().map_err(ApplyError::system(self.file.display().to_string()))
    }
}

fn remove(path: &Path) -> io::Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// A command line with special characters quoted for systemd or a shell.
fn join(words: &[String], system: System) -> String {
    let is_plain = |word: &String| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:+=,@".contains(c))
    };
    let quote = |word: &String| match system {
        _ if is_plain(word) => word.clone(),
        System::OpenWrt => format!("'{}'", word.replace('\'', "'\\''")),
        System::Systemd => {
            let escaped = word.replace('\\', "\\\\").replace('"', "\\\"");
            format!("\"{}\"", escaped.replace('%', "%%").replace('$', "$$"))
        }
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// A name in the syntax of `systemd-escape`: everything except letters, digits, `:`, `_` and `.` in
/// hexadecimal.
fn unit_name(device: &str) -> String {
    let mut name = String::new();
    for (at, byte) in device.bytes().enumerate() {
        let is_plain =
            byte.is_ascii_alphanumeric() || byte == b'_' || byte == b':' || (byte == b'.' && at > 0);
        match is_plain {
            true => name.push(char::from(byte)),
            false => name.push_str(&format!("\\x{byte:02x}")),
        }
    }
    name
}
