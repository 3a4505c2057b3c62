//! Integer arithmetic in `$((…))`, as in POSIX shells.

use crate::variables::Variables;

/// Evaluates an expression of numbers, variables, `+ - * / %` and parentheses. Returns `None` for other
/// texts.
pub(crate) fn value(text: &str, variables: &Variables) -> Option<i64> {
    let mut parser = Parser { rest: text.trim_start(), variables, depth: 0 };
    let value = parser.sum()?;
    parser.rest.is_empty().then_some(value)
}

/// Limit on nested parentheses; real scripts have far fewer.
const DEEPEST: usize = 32;

struct Parser<'a> {
    rest: &'a str,
    variables: &'a Variables,
    depth: usize,
}

impl Parser<'_> {
    fn take(&mut self, options: &[char]) -> Option<char> {
        let next = self.rest.chars().next().filter(|next| options.contains(next))?;
        self.rest = self.rest[next.len_utf8()..].trim_start();
        Some(next)
    }

    fn sum(&mut self) -> Option<i64> {
        let mut value = self.product()?;
        while let Some(operator) = self.take(&['+', '-']) {
            let other = self.product()?;
            value = if operator == '+' { value.checked_add(other) } else { value.checked_sub(other) }?;
        }
        Some(value)
    }

    fn product(&mut self) -> Option<i64> {
        let mut value = self.factor()?;
        while let Some(operator) = self.take(&['*', '/', '%']) {
            let other = self.factor()?;
            value = match operator {
                '*' => value.checked_mul(other),
                '/' => value.checked_div(other),
                _ => value.checked_rem(other),
            }?;
        }
        Some(value)
    }

    fn factor(&mut self) -> Option<i64> {
        if self.take(&['-']).is_some() {
            return self.nested(Parser::factor)?.checked_neg();
        }
        if self.take(&['(']).is_some() {
            let value = self.nested(Parser::sum)?;
            return self.take(&[')']).map(|_| value);
        }
        self.take(&['$']);
        let is_braced = self.take(&['{']).is_some();
        let end = self.rest.find(|character: char| !character.is_ascii_alphanumeric() && character != '_');
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest.trim_start();
        if is_braced {
            self.take(&['}'])?;
        }
        word.parse().ok().or_else(|| self.variables.get(word)?.trim().parse().ok())
    }

    fn nested(&mut self, read: fn(&mut Self) -> Option<i64>) -> Option<i64> {
        self.depth += 1;
        let value = if self.depth > DEEPEST { None } else { read(self) };
        self.depth -= 1;
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_match_the_shell() {
        let mut variables = Variables::default();
        variables.set("UP", "900");
        assert_eq!(value("UP * 95 / 100", &variables), Some(855));
        assert_eq!(value("(1 + 2) * -3", &variables), Some(-9));
        assert_eq!(value("${UP} % 7 - $UP", &variables), Some(-896));
        assert_eq!(value("7 / 0", &variables), None);
        assert_eq!(value("9 +", &variables), None);
        assert_eq!(value("DOWN / 2", &variables), None);
        assert_eq!(value(&"(".repeat(100_000), &variables), None);
    }
}
