//! Sentences that differ in a few places, in one line: `[Uploading | Downloading] raises latency`.
use std::fmt;

/// How far sentences may differ to be in one line.
#[derive(Clone, Copy)]
pub(crate) struct Likeness {
    /// Places where they differ.
    pub(crate) max_choices: usize,
    /// Share of the words of a sentence that are saved.
    pub(crate) min_saved_percent: usize,
}

/// Fewest shared words in a row between two places that differ.
const SHARED_RUN: usize = 2;

/// A word, with its punctuation as a separate part.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Token {
    text: String,
    /// Whether no space is before it.
    is_glued: bool,
}

fn tokens(sentence: &str) -> Vec<Token> {
    let mut all = Vec::new();
    for word in sentence.split(' ').filter(|word| !word.is_empty()) {
        let stem = word.trim_end_matches(['.', ',', ';', ':']);
        // Punctuation alone, or a range such as `FROM..TO`.
        if stem.is_empty() || word.len() - stem.len() > 1 {
            all.push(Token { text: word.to_owned(), is_glued: false });
            continue;
        }
        all.push(Token { text: stem.to_owned(), is_glued: false });
        if stem.len() < word.len() {
            all.push(Token { text: word[stem.len()..].to_owned(), is_glued: true });
        }
    }
    all
}

/// Units, which belong to the number before them.
const UNITS: [&str; 11] = ["%", "ms", "s", "us", "ns", "B", "kB", "MB", "kbit/s", "Mbit/s", "Gbit/s"];

/// Number of words of a text, without values: a number with its unit, an address, a `{placeholder}`
/// is recognized, not read.
pub(crate) fn words(text: &str) -> usize {
    let is_sign = |letter: char| letter.is_ascii_punctuation() && !matches!(letter, '%' | '{' | '}');
    let mut after_number = false;
    let is_word = |word: &&str| {
        let bare = word.trim_matches(is_sign);
        let is_placeholder = bare.starts_with('{') && bare.find('}') == Some(bare.len() - 1);
        let is_unit = after_number && UNITS.contains(&bare);
        after_number = bare.ends_with(|letter: char| letter.is_ascii_digit());
        !is_unit && !is_placeholder && bare.contains(char::is_alphabetic)
    };
    text.split_whitespace().filter(is_word).count()
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Part {
    /// What all sentences share.
    Shared(Token),
    /// What the sentences have at one place; an empty one is nothing.
    Choice(Vec<Vec<Token>>),
}

/// One or more sentences.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Variants(Vec<Part>);

impl Variants {
    pub(crate) fn new(sentence: &str) -> Variants {
        Variants(tokens(sentence).into_iter().map(Part::Shared).collect())
    }

    /// These sentences and another one, if that saves words.
    fn with(&self, sentence: &str, likeness: Likeness) -> Option<Variants> {
        let new = tokens(sentence);
        let pairs = without_short_runs(alignment(&self.0, &new), self.0.len(), new.len());
        let mut parts = Vec::new();
        let (mut from_old, mut from_new) = (0, 0);
        for (old_at, new_at) in pairs.into_iter().chain([(self.0.len(), new.len())]) {
            let (old_gap, new_gap) = (&self.0[from_old..old_at], &new[from_new..new_at]);
            if !old_gap.is_empty() || !new_gap.is_empty() {
                parts.push(choice(old_gap, new_gap)?);
            }
            parts.extend(self.0.get(old_at).cloned());
            (from_old, from_new) = (old_at + 1, new_at + 1);
        }
        let merged = Variants(parts);
        let saved = (self.words() + words(sentence)).saturating_sub(merged.words());
        let is_like = saved * 100 >= words(sentence) * likeness.min_saved_percent;
        (is_like && merged.choices() <= likeness.max_choices).then_some(merged)
    }

    /// Words of the line.
    fn words(&self) -> usize {
        words(&self.to_string())
    }

    fn choices(&self) -> usize {
        self.0.iter().filter(|part| matches!(part, Part::Choice(_))).count()
    }
}

/// The variants at one place. `None` if the place has more than one choice already.
fn choice(old: &[Part], new: &[Token]) -> Option<Part> {
    if old.iter().filter(|part| matches!(part, Part::Choice(_))).count() > 1 {
        return None;
    }
    let mut variants: Vec<Vec<Token>> = vec![Vec::new()];
    for part in old {
        match part {
            Part::Shared(token) => variants.iter_mut().for_each(|one| one.push(token.clone())),
            Part::Choice(inner) => {
                let before = variants.concat();
                variants = inner.iter().map(|one| [before.clone(), one.clone()].concat()).collect();
            }
        }
    }
    if !variants.iter().any(|one| one == new) {
        variants.push(new.to_vec());
    }
    Some(Part::Choice(variants))
}

/// Positions of the longest common subsequence.
fn alignment(old: &[Part], new: &[Token]) -> Vec<(usize, usize)> {
    let is_same = |at: usize, of: usize| matches!(&old[at], Part::Shared(token) if *token == new[of]);
    let mut longest = vec![vec![0; new.len() + 1]; old.len() + 1];
    for at in (0..old.len()).rev() {
        for of in (0..new.len()).rev() {
            longest[at][of] = if is_same(at, of) {
                longest[at + 1][of + 1] + 1
            } else {
                longest[at + 1][of].max(longest[at][of + 1])
            };
        }
    }
    let (mut at, mut of, mut pairs) = (0, 0, Vec::new());
    while at < old.len() && of < new.len() {
        if is_same(at, of) {
            pairs.push((at, of));
            (at, of) = (at + 1, of + 1);
        } else if longest[at + 1][of] >= longest[at][of + 1] {
            at += 1;
        } else {
            of += 1;
        }
    }
    pairs
}

/// Single shared words between two differences would only split what differs.
fn without_short_runs(pairs: Vec<(usize, usize)>, old: usize, new: usize) -> Vec<(usize, usize)> {
    let mut kept: Vec<(usize, usize)> = Vec::new();
    let mut run: Vec<(usize, usize)> = Vec::new();
    let mut runs = Vec::new();
    for pair in pairs {
        if run.last().is_some_and(|last| (last.0 + 1, last.1 + 1) != pair) {
            runs.push(std::mem::take(&mut run));
        }
        run.push(pair);
    }
    runs.push(run);
    for one in runs {
        let (Some(first), Some(last)) = (one.first(), one.last()) else { continue };
        let is_edge = *first == (0, 0) || *last == (old - 1, new - 1);
        if is_edge || one.len() >= SHARED_RUN {
            kept.extend(one);
        }
    }
    kept
}

fn joined(tokens: &[Token]) -> String {
    let mut text = String::new();
    for token in tokens {
        if !token.is_glued && !text.is_empty() {
            text.push(' ');
        }
        text += &token.text;
    }
    text
}

impl fmt::Display for Variants {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut gap = "";
        for part in &self.0 {
            match part {
                Part::Shared(token) => {
                    let gap = if token.is_glued { "" } else { gap };
                    write!(f, "{gap}{}", token.text)?;
                }
                Part::Choice(variants) => {
                    let all: Vec<String> = variants.iter().map(|one| joined(one)).collect();
                    let is_glued = |one: &Vec<Token>| one.first().is_none_or(|token| token.is_glued);
                    let gap = if variants.iter().all(is_glued) { "" } else { gap };
                    match all.iter().filter(|one| !one.is_empty()).collect::<Vec<_>>()[..] {
                        [only] => write!(f, "{gap}[{only}]")?,
                        _ => {
                            let all = all.iter().map(|one| if one.is_empty() { "-" } else { one.as_str() });
                            write!(f, "{gap}[{}]", all.collect::<Vec<_>>().join(" | "))?;
                        }
                    }
                }
            }
            gap = " ";
        }
        Ok(())
    }
}

/// Sentences in their order, each with those that differ from it in a few places only.
pub(crate) fn merged<'a>(sentences: impl IntoIterator<Item = &'a str>, likeness: Likeness) -> Vec<String> {
    let mut all: Vec<Variants> = Vec::new();
    for sentence in sentences {
        let new = Variants::new(sentence);
        if all.contains(&new) {
            continue;
        }
        let with = all.iter().enumerate().filter_map(|(at, one)| Some((at, one.with(sentence, likeness)?)));
        match with.min_by_key(|(at, one)| (one.words().saturating_sub(all[*at].words()), *at)) {
            Some((at, one)) => all[at] = one,
            None => all.push(new),
        }
    }
    all.iter().map(ToString::to_string).collect()
}
