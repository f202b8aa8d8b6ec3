//! What all pages have in common.

use std::fmt::Write as _;

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

/// Text as HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// Text between the marks of code.
pub fn code(text: &str) -> String {
    format!("<code>{}</code>", escape(text))
}

/// Text in which code is between backticks.
pub fn with_code(text: &str) -> String {
    (text.split('`').enumerate())
        .map(|(i, part)| if i % 2 == 1 { code(part) } else { escape(part) })
        .collect()
}

/// A name as it can be in an address.
pub fn slug(text: &str) -> String {
    let letters: String = text
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                ' '
            }
        })
        .collect();
    letters.split_whitespace().collect::<Vec<_>>().join("-")
}

/// An unordered list, of HTML.
pub fn list(items: impl IntoIterator<Item = String>) -> String {
    let items: String = items.into_iter().fold(String::new(), |mut text, item| {
        let _ = write!(text, "<li>{item}</li>");
        text
    });
    if items.is_empty() {
        "<p>None.</p>".to_owned()
    } else {
        format!("<ul>{items}</ul>")
    }
}

/// The pages in the menu: file and title.
pub const MENU: [(&str, &str); 7] = [
    ("index.html", "Overview"),
    ("items.html", "What is proved"),
    ("kernels.html", "Kernels"),
    ("specification.html", "Specification"),
    ("speed.html", "Speed"),
    ("audit.html", "Audit a binary"),
    ("try.html", "Try it"),
];

/// A page. `depth` is the number of folders that it is in. It can load nothing from another host, and send nothing.
pub fn page(title: &str, depth: usize, scripts: &[&str], body: &str) -> String {
    let up = "../".repeat(depth);
    let menu = MENU
        .map(|(file, name)| format!("<a href=\"{up}{file}\">{name}</a>"))
        .join(" ");
    let scripts: String = scripts.iter().fold(String::new(), |mut text, script| {
        let _ = write!(text, "<script src=\"{up}{script}\" defer></script>");
        text
    });
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}: Veriplex</title>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'self'; img-src 'self'; \
         script-src 'self' 'wasm-unsafe-eval'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <link rel=\"stylesheet\" href=\"{up}style.css\">\n<link rel=\"icon\" href=\"{up}icon.svg\">\n{scripts}\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the text</a>\n<nav aria-label=\"Pages\">{menu}</nav>\n\
         <main id=\"main\">\n<h1>{title}</h1>\n{body}\n</main>\n</body>\n</html>\n",
        title = escape(title),
    )
}

/// Markdown as HTML, with headings that can be linked to, as GitHub names them. `link` says where a link goes, if anywhere.
pub fn markdown(text: &str, link: impl Fn(&str) -> Option<String>) -> String {
    let events: Vec<Event<'_>> = Parser::new_ext(text, Options::ENABLE_TABLES).collect();
    let ids: Vec<String> = (events
        .split(|event| matches!(event, Event::Start(Tag::Heading { .. })))
        .skip(1))
    .map(|heading| {
        let words = heading.iter().take_while(|event| !matches!(event, Event::End(_)));
        let text: String = words
            .filter_map(|event| {
                if let Event::Text(t) | Event::Code(t) = event {
                    Some(&**t)
                } else {
                    None
                }
            })
            .collect();
        text.to_lowercase()
            .replace(' ', "-")
            .replace(|c: char| !c.is_alphanumeric() && c != '-' && c != '_', "")
    })
    .collect();
    let mut ids = ids.into_iter();
    let mut linked = false;
    let events = events.into_iter().filter_map(|event| match event {
        // The page has a title of its own.
        Event::Start(Tag::Heading {
            level,
            classes,
            attrs,
            ..
        }) => {
            let id = ids.next().map(CowStr::from);
            let level = if level == HeadingLevel::H1 {
                HeadingLevel::H2
            } else {
                level
            };
            Some(Event::Start(Tag::Heading {
                level,
                id,
                classes,
                attrs,
            }))
        }
        Event::End(TagEnd::Heading(HeadingLevel::H1)) => Some(Event::End(TagEnd::Heading(HeadingLevel::H2))),
        Event::Start(Tag::Link {
            link_type,
            dest_url,
            title,
            id,
        }) => {
            let target = link(&dest_url);
            linked = target.is_some();
            target.map(|url| {
                Event::Start(Tag::Link {
                    link_type,
                    dest_url: url.into(),
                    title,
                    id,
                })
            })
        }
        Event::End(TagEnd::Link) => linked.then_some(event),
        // Pictures would come from elsewhere.
        Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) | Event::Html(_) => None,
        event => Some(event),
    });
    let mut out = String::new();
    html::push_html(&mut out, events);
    out.replace("<table>", "<div class=\"wide\" tabindex=\"0\"><table>")
        .replace("</table>", "</table></div>")
        .replace("<pre>", "<pre tabindex=\"0\">")
}
