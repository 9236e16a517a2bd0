//! A fix that comes back when the system starts: a unit of systemd, or an init script of OpenWrt.
use crate::error::ApplyError;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// Who starts things.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum System {
    /// systemd.
    Systemd,
    /// OpenWrt's procd, by an init script.
    OpenWrt,
}

/// What is written for one interface.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Boot {
    /// Whose form it has.
    pub system: System,
    /// The unit or script.
    pub file: PathBuf,
    /// What makes the system start it.
    pub link: PathBuf,
}

/// OpenWrt starts the network at 20; firewall and hotplug are done by then.
const START: u32 = 95;

impl Boot {
    /// Where the files of an interface are on the system below `root`.
    ///
    /// # Errors
    /// If neither is what starts things there.
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
        let words =
            "neither systemd (/etc/systemd/system) nor OpenWrt (/etc/openwrt_release) starts this system";
        Err(ApplyError::words("start at boot", words))
    }
    /// The text that does `apply` when the system starts and `undo` when it is told to stop; both are words of a command.
    #[must_use]
    pub fn text(&self, device: &str, apply: &[String], undo: &[String]) -> String {
        let (apply, undo) = (join(apply, self.system), join(undo, self.system));
        match self.system {
            System::Systemd => format!(
                "# Written by fathom fix --boot; fathom fix --undo {device} removes it.\n\
                 [Unit]\n\
                 Description=Keeps the queues of {device} short\n\
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
    /// Writes it, and makes the system start it.
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
    /// As `systemctl enable` and `service NAME enable` have it.
    fn target(&self) -> PathBuf {
        let name = self.file.file_name().unwrap_or_default();
        Path::new(if self.system == System::OpenWrt { "../init.d" } else { ".." }).join(name)
    }
    /// Removes it; whether it was there.
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

/// A command line: words with anything unusual in them are quoted, as systemd or a shell reads them.
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

/// A name as `systemd-escape` has it: all but letters, digits, `:`, `_` and `.` as hexadecimal.
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
