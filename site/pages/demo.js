// Gives files to the library, which demo-module.js holds as WebAssembly, and offers what it makes of them.
"use strict";
const element = (id) => document.getElementById(id);
const LARGEST = 256 * 1024 * 1024;
const KEY_LINE = /^veriplex-key-v1 ([0-9a-f]{64})\r?\n?$/;

function show(place, text, kind) {
  element(place).textContent = text;
  element(place).className = `verdict ${kind}`;
}

// Each operation has a memory of its own, which goes when it ends.
async function run(operation, ...parts) {
  const { instance } = await WebAssembly.instantiate(Uint8Array.from(atob(DEMO_MODULE), (c) => c.charCodeAt(0)));
  const { memory, allocate, output, output_len: length, [operation]: call } = instance.exports;
  let at = allocate(parts.reduce((sum, part) => sum + part.length, 0));
  for (const part of parts) {
    new Uint8Array(memory.buffer, at, part.length).set(part);
    at += part.length;
  }
  const good = call();
  const bytes = new Uint8Array(memory.buffer, output(), length()).slice();
  if (!good) throw new Error(new TextDecoder().decode(bytes));
  return bytes;
}

async function read(input) {
  const file = element(input).files[0];
  if (file === undefined) throw new Error("choose a file first");
  if (file.size > LARGEST) throw new Error("this page takes files of up to 256 MiB");
  return [file.name, new Uint8Array(await file.arrayBuffer())];
}

function offer(place, name, bytes) {
  const link = document.createElement("a");
  // With another type, browsers may give a name without an ending one.
  link.href = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  link.download = name;
  link.textContent = name;
  const item = document.createElement("li");
  item.append(link);
  element(place).append(item);
}

// Shows what an operation says, and never an earlier result beside it.
function on(id, event, place, files, work) {
  element(id).addEventListener(event, () => {
    show(place, "Working …", "");
    for (const link of element(files).querySelectorAll("a")) URL.revokeObjectURL(link.href);
    element(files).replaceChildren();
    work().then((text) => show(place, text, "good"), (error) => show(place, `Failed: ${error.message}`, "bad"));
  });
}

on("file", "change", "hashed", "digests", async () => {
  const [name, bytes] = await read("file");
  const [sum, digest] = new TextDecoder().decode(await run("hash", bytes)).split("\n");
  for (const [command, value] of [["sum", sum], ["digest", digest]]) {
    const [term, code] = [document.createElement("dt"), document.createElement("dd")];
    term.textContent = `veriplex ${command}`;
    code.textContent = value;
    element("digests").append(term, code);
  }
  return `${name}: ${bytes.length} bytes`;
});

on("encrypt", "click", "encrypted", "made", async () => {
  const [name, bytes] = await read("file");
  const key = crypto.getRandomValues(new Uint8Array(32));
  const salt = crypto.getRandomValues(new Uint8Array(32));
  offer("made", `${name}.vpx`, await run("encrypt", key, salt, bytes));
  const digits = Array.from(key, (byte) => byte.toString(16).padStart(2, "0")).join("");
  offer("made", `${name}.key`, `veriplex-key-v1 ${digits}\n`);
  return "Encrypted under a new key. Without the key file, nobody can open it.";
});

on("open", "click", "opened", "plain", async () => {
  const [name, bytes] = await read("sealed");
  const [, text] = await read("key");
  const digits = KEY_LINE.exec(new TextDecoder().decode(text));
  if (digits === null) throw new Error("this is no key file");
  const key = Uint8Array.from(digits[1].match(/../g), (byte) => parseInt(byte, 16));
  offer("plain", name.replace(/\.vpx$/, ""), await run("open", key, bytes));
  return "Opened: it was made with this key, and not changed.";
});

if (typeof DEMO_MODULE === "undefined") {
  for (const input of document.querySelectorAll("main input, main button")) input.disabled = true;
  show("hashed", "This copy of the site was made without the library as WebAssembly.", "bad");
} else {
  run("backend").then((name) => { element("backend").textContent = new TextDecoder().decode(name); });
}
