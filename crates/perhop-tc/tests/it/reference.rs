//! The tables in `docs/tc.md` agree with the tables of the reader. `BLESS=1` writes them.

use std::fs;
use std::path::Path;

const BEGIN: &str = "<!-- disciplines: kept true by a test of perhop-tc (BLESS=1 writes them) -->\n";
const END: &str = "<!-- end of disciplines -->";

#[test]
fn the_page_lists_every_option() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tc.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("the tables begin somewhere");
    let (_, after) = rest.split_once(END).expect("the tables end somewhere");
    let right = format!("{before}{BEGIN}\n{}\n{END}{after}", perhop_tc::reference());
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, right).unwrap();
    } else {
        assert!(page == right, "docs/tc.md does not list the options of the tables: BLESS=1 writes them");
    }
}
