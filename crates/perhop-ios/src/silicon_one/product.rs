//! The products with Silicon One.

/// Products by the prefix of their name.
const PRODUCTS: &[&str] = &["c9350", "c9500x", "c9600x", "c9610"];

/// Whether `name` begins with the prefix of a product with Silicon One.
pub(crate) fn has_silicon_one(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    PRODUCTS.iter().any(|start| name.starts_with(start))
}
