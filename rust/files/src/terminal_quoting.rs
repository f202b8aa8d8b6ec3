//! File names and other foreign text in messages: as `ls` quotes names on a terminal, so that none of it acts on the
//! terminal, hides what follows, or looks like another message.

use std::fmt::Write;
use std::path::Path;

/// Whether this character may change what a terminal shows: controls and zero-width characters, which include those
/// that change the direction of text.
fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether it is special to a shell.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-./:,+@%=".contains(c) || !(c.is_ascii() || c.is_whitespace())
}

/// The path as a word for a shell: unchanged if that is safe, otherwise `'in quotes'`, with `$'\033'` for what cannot
/// be shown.
pub fn quoted(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    if let Ok(text) = str::from_utf8(bytes)
        && !text.is_empty()
        && text.chars().all(|c| is_plain(c) && !is_deceptive(c))
    {
        return text.into();
    }
    let mut word = String::from("'");
    // The ends of a piece in `'` and of one in `$'` are the same.
    let mut escaping = false;
    let mut turn = |word: &mut String, escape: bool| {
        if escaping != escape {
            word.push_str(if escape { "'$'" } else { "''" });
            escaping = escape;
        }
    };
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            turn(&mut word, is_deceptive(c));
            match c {
                '\'' => word.push_str(r"'\''"),
                '\n' => word.push_str("\\n"),
                '\r' => word.push_str("\\r"),
                '\t' => word.push_str("\\t"),
                c if is_deceptive(c) => octal(&mut word, c.encode_utf8(&mut [0; 4]).as_bytes()),
                c => word.push(c),
            }
        }
        if !chunk.invalid().is_empty() {
            turn(&mut word, true);
            octal(&mut word, chunk.invalid());
        }
    }
    word.push('\'');
    word
}

fn octal(word: &mut String, bytes: &[u8]) {
    for byte in bytes {
        let _ = write!(word, "\\{byte:03o}"); // a string takes everything
    }
}

/// Whether text can be shown in one line as it is.
pub fn is_printable(text: &str) -> bool {
    !text.contains(is_deceptive)
}

/// Text of several lines, with escapes for what must not reach a terminal.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_deceptive(c) && c != '\n' {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// A line of JSON, with escapes of JSON: only its strings need any.
pub fn json_line(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_deceptive(c) && c != '\n' {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(shown, "\\u{unit:04x}"); // a string takes everything
            }
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Text as one line.
pub fn line(text: &str) -> String {
    visible(text).replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_as_ls_does() {
        for (name, expected) in [
            ("plain-name_1.txt", "plain-name_1.txt"),
            ("naïve/文件", "naïve/文件"),
            ("", "''"),
            ("with space", "'with space'"),
            ("it's", r"'it'\''s'"),
            ("$(x)", "'$(x)'"),
            ("new\nline", r"'new'$'\n''line'"),
            ("\u{1b}[8m: FAILED", r"''$'\033''[8m: FAILED'"),
            ("a\u{202e}b", r"'a'$'\342\200\256''b'"),
            ("two\r\u{7}", r"'two'$'\r\007'"),
            ("a\u{34f}b", r"'a'$'\315\217''b'"),
        ] {
            assert_eq!(quoted(Path::new(name)), expected);
        }
    }

    #[test]
    fn quoted_names_mean_the_same_to_a_shell() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        use std::process::Command;

        for name in [
            b"\xff\xfe".as_slice(),
            b"a\x1b[8m'b'\n\xe2\x80\xaec\xc3",
            b"\\n$'x' \"q\" `w` *",
            "\u{e0041}\u{200b} x".as_bytes(),
        ] {
            let word = quoted(Path::new(OsStr::from_bytes(name)));
            assert!(is_printable(&word));
            // $'...' is not in every sh.
            let script = format!("printf %s {word}");
            let Ok(output) = Command::new("bash").args(["-c", &script]).output() else {
                return;
            };
            assert_eq!(output.stdout, name, "{word}");
        }
    }
}
