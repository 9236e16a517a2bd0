//! A sum as it is written beside its result, from left to right: `1000 * 1514 * 8 / 1000000`.

/// Value of a sum.
pub(crate) fn value(sum: &str) -> f64 {
    let words: Vec<&str> = sum.split_whitespace().collect();
    let number = |word: &str| word.parse::<f64>().unwrap_or_else(|_| panic!("{word} in {sum}"));
    words[1..].chunks(2).fold(number(words[0]), |total, pair| match pair {
        ["*", factor] => total * number(factor),
        ["/", divisor] => total / number(divisor),
        _ => panic!("{pair:?} in {sum}"),
    })
}
