//! The known word that was probably meant.
use alloc::vec::Vec;

/// The known word nearest to `wrong`: at most two letters differ, or `wrong` is the prefix of only
/// one known word. `None` if no word is near enough.
pub fn nearest<'k>(wrong: &str, known: &[&'k str]) -> Option<&'k str> {
    let mut longer = known.iter().filter(|word| wrong.len() > 2 && word.starts_with(wrong));
    if let (Some(only), None) = (longer.next(), longer.next()) {
        return Some(only);
    }
    let (distance, word) = known.iter().map(|word| (edit_distance(wrong, word), *word)).min()?;
    // Two letters are most of a short word.
    (distance <= 2 && distance * 2 < word.len().max(3)).then_some(word)
}

/// Minimum number of letters to insert, delete, replace, or swap with the next one (optimal string
/// alignment).
fn edit_distance(a: &str, b: &str) -> usize {
    let (mut before, mut row): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..=b.len()).collect());
    for (i, from) in a.bytes().enumerate() {
        let mut next = Vec::from([i + 1]);
        for (j, to) in b.bytes().enumerate() {
            let edited = (row[j] + usize::from(from != to)).min(row[j + 1] + 1).min(next[j] + 1);
            let is_swap = i > 0 && j > 0 && from == b.as_bytes()[j - 1] && to == a.as_bytes()[i - 1];
            next.push(if is_swap { edited.min(before[j - 1] + 1) } else { edited });
        }
        before = core::mem::replace(&mut row, next);
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_with_two_wrong_letters_is_found() {
        let known = ["codel", "fq_codel", "cake", "fifo", "congestion-control"];
        for (wrong, right) in [
            ("coddel", Some("codel")),
            ("fqcodel", Some("fq_codel")),
            ("cak", Some("cake")),
            ("ckae", Some("cake")),
            ("fiof", Some("fifo")),
            ("congestion", Some("congestion-control")),
            ("fi", None),
            ("fastest", None),
            ("", None),
        ] {
            assert_eq!(nearest(wrong, &known), right, "{wrong}");
        }
        assert_eq!(nearest("x", &[]), None);
    }
}
