//! The site in a browser: `make site-test`, which has made it. `SITE` is its folder, `PROGRAM` a program with the proved
//! kernels; `AXE`, if it is not empty, is the file of axe-core, which then looks at each kind of page.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

#[path = "../../proofs/audit/tests/made/mod.rs"]
mod made;

/// One page of each kind.
const PAGES: [&str; 9] = [
    "index.html",
    "SOUNDNESS.html",
    "evidence.html",
    "kernels.html",
    "kernels/x86-64-duplex_encrypt_blocks_x2.html",
    "theorems.html",
    "speed.html",
    "audit.html",
    "try.html",
];
const WIDTHS: [u32; 2] = [390, 1280];
/// What is not there after that is not coming.
const PATIENCE: Duration = Duration::from_secs(300);

fn folder(variable: &str) -> PathBuf {
    PathBuf::from(
        std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set: use make site-test")),
    )
}

/// The files of the site, by their paths in it.
fn files(folder: &Path, under: &str, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder.join(under)).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{under}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            files(folder, &format!("{path}/"), found);
        } else {
            found.insert(path);
        }
    }
}

/// The values of an attribute.
fn attributes<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let start = format!(" {name}=\"");
    text.split(start.as_str())
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect()
}

/// Each link of each page leads to a file of the site and a place in it. Nothing is loaded from elsewhere. Pages of rustdoc
/// are checked by rustdoc.
#[test]
#[ignore = "needs the site: make site-test"]
fn every_link_leads_somewhere() {
    let site = folder("SITE");
    let mut all = BTreeSet::new();
    files(&site, "", &mut all);
    let pages: Vec<&String> = all
        .iter()
        .filter(|name| name.rsplit('.').next() == Some("html") && !name.starts_with("api/"))
        .collect();
    let mut wrong = Vec::new();
    let mut links = 0;
    let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for page in pages {
        let text = fs::read_to_string(site.join(page)).unwrap();
        for source in attributes(&text, "src") {
            assert!(!source.contains(':'), "{page} loads {source}");
        }
        for link in attributes(&text, "href")
            .into_iter()
            .chain(attributes(&text, "src"))
        {
            if link.contains("://") || link == "/" {
                continue;
            }
            links += 1;
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let mut parts: Vec<&str> = page.split('/').collect();
            if !path.is_empty() {
                parts.pop();
            }
            for part in path.split('/').filter(|part| !part.is_empty()) {
                if part == ".." {
                    parts.pop();
                } else {
                    parts.push(part);
                }
            }
            let target = parts.join("/");
            let anchor = anchor.replace("%27", "'");
            if !all.contains(&target) {
                wrong.push(format!("{page}: no {target}"));
            } else if !anchor.is_empty() {
                let ids = places.entry(target.clone()).or_insert_with(|| {
                    let text = fs::read_to_string(site.join(&target)).unwrap();
                    attributes(&text, "id").into_iter().map(str::to_owned).collect()
                });
                if !ids.contains(&anchor) {
                    wrong.push(format!("{page}: no {target}#{anchor}"));
                }
            }
        }
    }
    assert!(links > 200, "{links}");
    assert!(
        wrong.is_empty(),
        "{} of {links} links:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Serves a folder on this machine, as any web server would.
fn serve(folder: PathBuf) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, folder) = (stream.unwrap(), folder.clone());
            thread::spawn(move || {
                let mut line = String::new();
                BufReader::new(&stream).read_line(&mut line).unwrap_or_default();
                let path = line
                    .split(' ')
                    .nth(1)
                    .unwrap_or("/")
                    .trim_start_matches('/')
                    .to_owned();
                let kind = match path.rsplit('.').next() {
                    Some("html") => "text/html",
                    Some("css") => "text/css",
                    Some("js") => "text/javascript",
                    Some("svg") => "image/svg+xml",
                    Some("txt") => "text/plain",
                    _ => "application/octet-stream",
                };
                let (status, body) = match fs::read(folder.join(&path)) {
                    Ok(body) => ("200 OK", body),
                    Err(_) => ("404 Not Found", Vec::new()),
                };
                let head = format!(
                    "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    body.len()
                );
                // A browser that goes away is no concern of ours.
                let _ = stream
                    .write_all(head.as_bytes())
                    .and_then(|()| stream.write_all(&body));
            });
        }
    });
    format!("http://{address}/")
}

/// Chromium, as its driver drives it.
struct Browser {
    driver: Child,
    port: u16,
    session: String,
    profile: PathBuf,
    site: String,
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver takes the browser with it when the session ends, and only then.
        let end = format!(
            "DELETE /session/{} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
            self.session
        );
        if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) {
            let _ = stream.set_read_timeout(Some(Duration::from_secs(30)));
            let _ = stream
                .write_all(end.as_bytes())
                .and_then(|()| stream.read(&mut [0; 64]));
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
        let _ = fs::remove_dir_all(&self.profile);
    }
}

impl Browser {
    fn start(site: String) -> Self {
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let profile = std::env::temp_dir().join(format!("veriplex-site-{}", std::process::id()));
        fs::create_dir_all(&profile).unwrap();
        let driver = Command::new("chromedriver")
            .arg(format!("--port={port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut browser = Self {
            driver,
            port,
            session: String::new(),
            profile,
            site,
        };
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(start.elapsed() < PATIENCE, "chromedriver does not start");
            thread::sleep(Duration::from_millis(50));
        }
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            &format!("--user-data-dir={}", browser.profile.display()),
        ];
        let options = json!({ "capabilities": { "alwaysMatch": {
            "goog:chromeOptions": { "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
            // A machine with other work is slow; nothing here waits for a timeout to pass.
            "timeouts": { "script": 600_000, "pageLoad": 600_000 },
        } } });
        let session = browser.request("POST", "/session", &options);
        session["sessionId"]
            .as_str()
            .unwrap()
            .clone_into(&mut browser.session);
        browser
    }

    fn request(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = body.to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        // The driver keeps the connection open, so its answer ends where its length says.
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut answer = vec![0; length];
        reader.read_exact(&mut answer).unwrap();
        let value: Value = serde_json::from_slice(&answer).unwrap();
        assert!(value["value"]["error"].is_null(), "{path}: {}", value["value"]);
        value["value"].clone()
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.request("POST", &format!("/session/{}/{path}", self.session), body)
    }

    fn open(&self, page: &str) {
        self.post("url", &json!({ "url": format!("{}{page}", self.site) }));
    }

    fn run(&self, script: &str) -> Value {
        self.post("execute/sync", &json!({ "script": script, "args": [] }))
    }

    fn devtools(&self, command: &str, parameters: &Value) -> Value {
        self.post(
            "goog/cdp/execute",
            &json!({ "cmd": command, "params": parameters }),
        )
    }

    /// The message of errors on pages since the last call, among them what the policy refused.
    fn errors(&self) -> Vec<String> {
        let entries = self.post("se/log", &json!({ "type": "browser" }));
        let entries = entries.as_array().cloned().unwrap_or_default();
        (entries.iter().map(|entry| entry["message"].to_string()))
            // The browser looks for it beside text.
            .filter(|message| !message.contains("/favicon.ico"))
            .collect()
    }

    fn look(&self, theme: &str, width: u32) {
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": theme }] });
        self.devtools("Emulation.setEmulatedMedia", &media);
        let metrics = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.devtools("Emulation.setDeviceMetricsOverride", &metrics);
    }

    fn screenshot(&self, name: &str) {
        let path = format!("/session/{}/screenshot", self.session);
        let picture = self.request("GET", &path, &json!({}));
        let folder = folder("SITE").with_extension("pictures");
        fs::create_dir_all(&folder).unwrap();
        let bytes = <base64ct::Base64 as base64ct::Encoding>::decode_vec(picture.as_str().unwrap()).unwrap();
        fs::write(folder.join(format!("{name}.png")), bytes).unwrap();
    }

    /// What axe finds wrong with the text of the page: rules, each with the first element. The menu around it is mdBook's.
    fn violations(&self, axe: &str) -> Value {
        self.run(&format!("if (!window.axe) {{ {axe} }}"));
        self.post("execute/async", &json!({ "args": [], "script":
            "const done = arguments[0]; axe.run('main').then((r) => done(r.violations.map((v) => `${v.id}: ${v.nodes[0].html}`)));" }))
    }

    /// Chooses a file in an input.
    fn choose(&self, input: &str, file: &Path) {
        let element = self.post("element", &json!({ "using": "css selector", "value": input }));
        let id = element
            .as_object()
            .unwrap()
            .values()
            .next()
            .unwrap()
            .as_str()
            .unwrap();
        self.post(
            &format!("element/{id}/value"),
            &json!({ "text": file.to_str().unwrap() }),
        );
    }

    /// Waits for a verdict: its kind and its text.
    fn verdict(&self, place: &str) -> (String, String) {
        let start = Instant::now();
        loop {
            let verdict = self.run(&format!(
                "const v = document.getElementById('{place}'); return [v.classList[1] ?? '', v.textContent];"
            ));
            if let (Some(kind @ ("good" | "part" | "bad")), Some(text)) =
                (verdict[0].as_str(), verdict[1].as_str())
            {
                return (kind.to_owned(), text.to_owned());
            }
            assert!(start.elapsed() < PATIENCE, "no verdict: {verdict}");
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// Saves what the page offers in a list under a name. The browser gives a file its name when it is whole.
    fn download(&self, list: &str, folder: &Path, name: &str) {
        self.run(&format!(
            "document.querySelector('#{list} a[download=\"{name}\"]').click();"
        ));
        let start = Instant::now();
        while !folder.join(name).exists() {
            assert!(start.elapsed() < PATIENCE, "no {name}");
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Gives a file to the page, as a choice or dropped, and waits for its verdict.
    fn audit(&self, file: &Path, dropped: bool) -> (String, String) {
        self.open("audit.html");
        if dropped {
            // What is chosen in an input of our own is what we drop.
            self.run(
                "const own = document.createElement('input'); own.type = 'file'; own.id = 'own'; document.body.append(own);",
            );
        }
        self.choose(if dropped { "#own" } else { "#file" }, file);
        if dropped {
            self.run(
                "const data = new DataTransfer(); data.items.add(document.getElementById('own').files[0]); \
                 document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));",
            );
        }
        self.verdict("verdict")
    }
}

#[test]
#[ignore = "needs the site, Chromium and its driver: make site-test"]
fn the_site_works_in_chromium() {
    let browser = Browser::start(serve(folder("SITE")));
    pages(&browser);
    three_clicks(&browser);
    audits(&browser);
    demonstration(&browser);
    assert_eq!(browser.errors(), Vec::<String>::new());
    no_other_host(&browser);
}

/// Every kind of page, in both themes and two widths: nothing is wider than the window, and axe finds nothing.
fn pages(browser: &Browser) {
    let axe = std::env::var_os("AXE")
        .filter(|file| !file.is_empty())
        .map(|file| fs::read_to_string(file).unwrap());
    if axe.is_none() {
        println!("site-test: accessibility was skipped, because there is no axe-core (pip)");
        assert!(!strict());
    }
    for page in PAGES {
        for width in WIDTHS {
            let mut backgrounds = BTreeSet::new();
            for theme in ["light", "dark"] {
                browser.look(theme, width);
                browser.open(page);
                let seen = browser.run(
                    "return [document.documentElement.scrollWidth, getComputedStyle(document.documentElement).backgroundColor];",
                );
                let wide = seen[0].as_i64().unwrap();
                assert!(
                    wide <= i64::from(width),
                    "{page} is {wide} wide in a window of {width}"
                );
                backgrounds.insert(seen[1].to_string());
                browser.screenshot(&format!("{}-{theme}-{width}", page.replace(['/', '.'], "-")));
                if let Some(axe) = &axe {
                    assert_eq!(browser.violations(axe), json!([]), "{page}, {theme}, {width}");
                }
            }
            assert_eq!(backgrounds.len(), 2, "{page} looks the same in both themes");
        }
        assert_eq!(browser.errors(), Vec::<String>::new(), "{page}");
    }
    if let Some(axe) = &axe {
        // It must find what is planted.
        browser.run(
            "document.querySelector('main').insertAdjacentHTML('beforeend', \
             '<img src=\"data:,\"><input id=\"nameless\"><p style=\"color: rgb(128, 128, 128)\">pale</p>');",
        );
        let found = browser.violations(axe).to_string();
        for rule in ["image-alt", "label", "color-contrast"] {
            assert!(found.contains(&format!("\"{rule}: ")), "{rule} is not in {found}");
        }
    }
    browser.look("light", 1280);
}

/// From the first page to a kernel's specification, source, machine code and theorems.
fn three_clicks(browser: &Browser) {
    let click = |link: &str| {
        browser.run(&format!(
            "document.querySelector('main a[href$=\"{link}\"]').click();"
        ));
        let start = Instant::now();
        while !browser
            .run("return location.href;")
            .as_str()
            .unwrap()
            .ends_with(link)
        {
            assert!(start.elapsed() < PATIENCE, "no {link}");
            thread::sleep(Duration::from_millis(50));
        }
    };
    for part in ["#specification", "#source", "#theorems"] {
        browser.open("index.html");
        click("evidence.html");
        click("kernels/armv8-duplex_absorb_blocks.html");
        click(part);
        let found = browser.run("return document.querySelector(location.hash) !== null;");
        assert_eq!(found, json!(true), "{part}");
    }
    click("machine/armv8/duplex_absorb_blocks.txt");
    let code = browser.run("return document.body.textContent;");
    assert!(code.as_str().unwrap().contains("aese"), "{code}");
}

fn strict() -> bool {
    std::env::var_os("STRICT").is_some_and(|strict| !strict.is_empty())
}

fn audits(browser: &Browser) {
    if fs::read(folder("SITE").join("audit-module.js"))
        .unwrap()
        .is_empty()
    {
        println!(
            "site-test: audits were skipped, because the site was made without WebAssembly (see make site)"
        );
        assert!(!strict());
        return;
    }
    let program = folder("PROGRAM").canonicalize().unwrap();
    let folder = folder("SITE").with_extension("files");
    fs::create_dir_all(&folder).unwrap();
    let mut bytes = fs::read(&program).unwrap();
    let proved = veriplex_audit::Proved::embedded().unwrap();
    let findings = veriplex_audit::audit(&bytes, &proved).unwrap();
    let flipped = folder.join("flipped");
    bytes[findings[0].file_offset + findings[0].len / 2] ^= 1;
    fs::write(&flipped, &bytes).unwrap();
    let text = folder.join("text");
    fs::write(&text, "no program").unwrap();
    // The program may call only some of them.
    let missing = veriplex_audit::missing(
        &veriplex_audit::architectures(&bytes).unwrap(),
        &findings,
        &proved,
    );
    let of_program = if missing.is_empty() { "good" } else { "part" };
    let whole = folder.join("whole");
    fs::write(&whole, made::executable(&made::kernels())).unwrap();
    for dropped in [false, true] {
        for (file, kind) in [
            (&whole, "good"),
            (&program, of_program),
            (&flipped, "bad"),
            (&text, "bad"),
        ] {
            let (found, verdict) = browser.audit(file, dropped);
            assert_eq!(found, kind, "{}: {verdict}", file.display());
            assert!(
                kind == "bad" || verdict.contains(" tables of constants"),
                "{verdict}"
            );
        }
    }
    browser.audit(&program, true);
    browser.screenshot("audit-program");
    let (_, verdict) = browser.audit(&flipped, true);
    assert!(verdict.contains("1 of"), "{verdict}");
    browser.screenshot("audit-flipped");
}

/// The page that hashes, encrypts and opens, and the program, with the same files.
fn demonstration(browser: &Browser) {
    if fs::read(folder("SITE").join("demo-module.js"))
        .unwrap()
        .is_empty()
    {
        println!(
            "site-test: files were skipped, because the site was made without WebAssembly (see make site)"
        );
        assert!(!strict());
        return;
    }
    let folder = folder("SITE").with_extension("downloads");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let folder = folder.canonicalize().unwrap();
    let behaviour = json!({ "behavior": "allow", "downloadPath": folder.to_str().unwrap() });
    browser.devtools("Browser.setDownloadBehavior", &behaviour);
    for len in [0, 1, 16384, 100_000] {
        let plaintext: Vec<u8> = (0..len).map(|i: u32| (i * 7 % 251).to_le_bytes()[0]).collect();
        let name = format!("file{len}");
        fs::write(folder.join(&name), &plaintext).unwrap();
        page_encrypts(browser, &folder, &name, &plaintext);
        page_opens(browser, &folder, &name, &plaintext);
    }
    browser.screenshot("try-refused");
}

/// Runs the program.
fn program(folder: &Path, arguments: &[&str]) -> String {
    let program = self::folder("PROGRAM").canonicalize().unwrap();
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The page hashes as the program does, and the program opens what the page made.
fn page_encrypts(browser: &Browser, folder: &Path, name: &str, plaintext: &[u8]) {
    browser.open("try.html");
    browser.choose("#file", &folder.join(name));
    let hashed = format!("{name}: {} bytes", plaintext.len());
    assert_eq!(browser.verdict("hashed"), ("good".to_owned(), hashed));
    let shown =
        browser.run("return [...document.querySelectorAll('#digests dd')].map((d) => d.textContent);");
    // `VERIPLEX-SUM (NAME) = DIGEST`.
    let wanted = ["sum", "digest"].map(|command| {
        let line = program(folder, &[command, name]);
        line.trim_end().rsplit(' ').next().unwrap().to_owned()
    });
    assert_eq!(shown, json!(wanted), "{name}");

    browser.run("document.getElementById('encrypt').click();");
    let (kind, text) = browser.verdict("encrypted");
    assert_eq!(kind, "good", "{text}");
    let (sealed, key) = (format!("{name}.vpx"), format!("{name}.key"));
    browser.download("made", folder, &sealed);
    browser.download("made", folder, &key);
    program(folder, &["decrypt", "--key-file", &key, "-o", "opened", &sealed]);
    assert_eq!(fs::read(folder.join("opened")).unwrap(), plaintext);
    for file in ["opened", &sealed, &key] {
        fs::remove_file(folder.join(file)).unwrap();
    }
}

/// The page opens what the program encrypted, and nothing else.
fn page_opens(browser: &Browser, folder: &Path, name: &str, plaintext: &[u8]) {
    let open = |sealed: &str, key: &str| {
        browser.open("try.html");
        browser.choose("#sealed", &folder.join(sealed));
        browser.choose("#key", &folder.join(key));
        browser.run("document.getElementById('open').click();");
        browser.verdict("opened")
    };
    let sealed = format!("{name}.vpx");
    for key in ["key", "other"] {
        let _ = fs::remove_file(folder.join(key));
        program(folder, &["key", "generate", key]);
    }
    program(folder, &["encrypt", "--key-file", "key", name]);
    fs::remove_file(folder.join(name)).unwrap();
    assert_eq!(open(&sealed, "key").0, "good");
    browser.download("plain", folder, name);
    assert_eq!(fs::read(folder.join(name)).unwrap(), plaintext);

    // Another key, no key at all, a changed byte in each part, cuts: an error, and nothing to save.
    let good = fs::read(folder.join(&sealed)).unwrap();
    let mut wrong = vec![(sealed.clone(), "other"), (sealed.clone(), name)];
    for at in [0, 8, 20, 50, good.len() - 1] {
        let mut changed = good.clone();
        changed[at] ^= 1;
        fs::write(folder.join(format!("changed{at}")), changed).unwrap();
        wrong.push((format!("changed{at}"), "key"));
    }
    for len in [0, 30, 45, good.len() - 1] {
        fs::write(folder.join(format!("cut{len}")), &good[..len]).unwrap();
        wrong.push((format!("cut{len}"), "key"));
    }
    for (sealed, key) in wrong {
        let (kind, text) = open(&sealed, key);
        assert!(
            kind == "bad" && text.starts_with("Failed: "),
            "{sealed} with {key}: {text}"
        );
        assert_eq!(
            browser.run("return document.querySelectorAll('#plain a').length;"),
            json!(0)
        );
    }
}

/// The policy refuses what a page might try to load or send.
fn no_other_host(browser: &Browser) {
    browser.open("audit.html");
    let tried = browser.post(
        "execute/async",
        &json!({ "args": [], "script":
            "const done = arguments[0]; \
             const refused = []; document.addEventListener('securitypolicyviolation', (e) => refused.push(e.violatedDirective)); \
             fetch('/style.css').then(() => done('fetched'), () => setTimeout(() => done(refused), 200));" }),
    );
    assert_eq!(tried, json!(["connect-src"]));
}
