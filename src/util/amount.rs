//! Formatting of numbers in messages: `20 million`, `200,000`, `64 MiB`.

/// Formats a number in words: multiples of a million as such, others with commas.
pub(crate) fn in_words(number: u64) -> String {
    const MILLION: u64 = 1_000_000;
    match (number / MILLION, number % MILLION) {
        (millions @ 1.., 0) => format!("{} million", with_commas(millions)),
        (millions @ 1..1000, rest) if rest % 100_000 == 0 => {
            format!("{millions}.{} million", rest / 100_000)
        }
        _ => with_commas(number),
    }
}

/// Formats a number of bytes in the largest unit that divides it.
pub(crate) fn bytes(number: u64) -> String {
    let units = [
        (1_000_000_000, "GB"),
        (1 << 30, "GiB"),
        (1_000_000, "MB"),
        (1 << 20, "MiB"),
        (1_000, "KB"),
        (1 << 10, "KiB"),
    ];
    match units.into_iter().find(|&(unit, _)| number >= unit && number.is_multiple_of(unit)) {
        Some((unit, name)) => format!("{} {name}", with_commas(number / unit)),
        None if number == 1 => "1 byte".to_owned(),
        None => format!("{} bytes", with_commas(number)),
    }
}

fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_said_in_words() {
        let words = [0, 999, 1000, 200_000, 1_000_000, 1_500_000, 1_234_567, 400_000_000];
        assert_eq!(
            words.map(in_words),
            [
                "0",
                "999",
                "1,000",
                "200,000",
                "1 million",
                "1.5 million",
                "1,234,567",
                "400 million"
            ]
        );
        let sizes = [1, 999, 4_000_000, 256_000, 64 << 20, 256 << 20, 2_000_000_000, 1_234_567];
        assert_eq!(
            sizes.map(bytes),
            [
                "1 byte",
                "999 bytes",
                "4 MB",
                "256 KB",
                "64 MiB",
                "256 MiB",
                "2 GB",
                "1,234,567 bytes"
            ]
        );
    }
}
