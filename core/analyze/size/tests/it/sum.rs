//! Evaluates `256 * 1514 * 8 / 10e6` and the like from left to right, with factors `sqrt 10000`.

pub(crate) fn value(sum: &str) -> f64 {
    let mut words = sum.split_whitespace();
    let mut total = factor(&mut words);
    while let Some(operator) = words.next() {
        let next = factor(&mut words);
        match operator {
            "*" => total *= next,
            "/" => total /= next,
            "+" => total += next,
            "-" => total -= next,
            other => panic!("{other} in {sum}"),
        }
    }
    total
}

fn factor<'a>(words: &mut impl Iterator<Item = &'a str>) -> f64 {
    let word = words.next().expect("a number");
    if word == "sqrt" {
        return factor(words).sqrt();
    }
    word.parse().unwrap_or_else(|_| panic!("{word} is no number"))
}
