//! Parsing the output of the script, also when it is damaged.
use crate::fixture::{HOSTS, tree};
use crate::listing_bytes::check;
use fathom_audit::{Facts, SCRIPT_END, Tree, listing, script};
use fathom_units::Rng;

fn printed(tree: &Tree) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (path, content) in tree.iter() {
        bytes.extend_from_slice(format!("\n@@fathom {path}\n").as_bytes());
        bytes.extend_from_slice(content);
    }
    bytes.extend_from_slice(format!("\n{SCRIPT_END}\n").as_bytes());
    bytes
}

#[test]
fn a_listing_parses_to_the_original_tree() {
    for (name, _) in HOSTS {
        let (read, is_whole) = listing(&printed(&tree(name)));
        assert!(is_whole);
        assert!(read == tree(name), "{name}");
    }
}

#[test]
fn a_truncated_listing_is_reported_and_keeps_complete_files() {
    let whole = printed(&tree("router"));
    let (read, is_whole) = listing(&whole[..whole.len() / 2]);
    assert!(!is_whole && !Facts::of(&read).interfaces.is_empty());
}

#[test]
fn the_script_only_reads() {
    let script = script();
    let commands = ["cd ", "for f in ", "if [ -f ", "done", "if [ -r ", "printf "];
    for line in script.lines() {
        assert!(commands.iter().any(|command| line.starts_with(command)), "{line}");
    }
    assert!(!script.replace("2>/dev/null", "").contains('>'), "{script}");
}

/// Only section names of files with passwords leave the host and are stored.
#[test]
fn passwords_are_not_sent() {
    let mut kept = Tree::default();
    let path = "etc/NetworkManager/system-connections/home";
    kept.insert(path, b"[wifi-security]\npsk=secret\n\n[tc]\nqdisc.root=x".to_vec());
    assert_eq!(kept.iter().collect::<Vec<_>>(), [(path, b"[wifi-security]\n[tc]\n".as_slice())]);
    assert!(script().contains("for f in etc/NetworkManager/system-connections/*; do"));
    let whole = script().lines().find(|line| line.starts_with("for f in sys")).map(str::to_owned);
    assert!(whole.is_some_and(|line| !line.contains("system-connections")));
}

#[test]
fn damaged_listings_do_not_panic() {
    for (name, _) in HOSTS {
        let good = printed(&tree(name));
        check(&good);
        for seed in 0..60 {
            let mut rng = Rng::new(seed);
            let mut damaged = good.clone();
            for _ in 0..=rng.below(40) {
                let at = rng.below(damaged.len() as u64) as usize;
                damaged[at] = b"0123456789-x \n\xff/=@"[rng.below(18) as usize];
            }
            damaged.truncate(rng.below(damaged.len() as u64 + 1) as usize);
            check(&damaged);
        }
    }
}

/// Replaces each file's content by zero, the largest number, or nothing.
#[test]
fn wrong_numbers_do_not_panic() {
    let wrong =
        ["0", "18446744073709551615", "99999999999999999999999", "-1", "", "0x", "nonsense\u{202e}", "1 2 3"];
    for (name, _) in HOSTS {
        for text in wrong {
            let mut changed = Tree::default();
            tree(name).iter().for_each(|(path, _)| changed.insert(path, text.as_bytes().to_vec()));
            check(&printed(&changed));
        }
    }
}

#[test]
fn the_corpus_of_the_fuzzer() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../fuzz/corpus/audit");
    let files: Vec<_> = std::fs::read_dir(corpus).expect("the corpus is committed").collect();
    assert!(files.len() >= 5);
    files.into_iter().for_each(|file| check(&std::fs::read(file.expect("an entry").path()).expect("a file")));
}
