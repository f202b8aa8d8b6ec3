// Gives a file to the audit, which audit-module.js holds as WebAssembly, and shows what it says.
"use strict";
const [drop, file, verdict, findings] = ["drop", "file", "verdict", "findings"].map((id) => document.getElementById(id));

function show(text, kind) {
  verdict.textContent = text;
  verdict.className = `verdict ${kind}`;
}

async function audit(chosen) {
  show("Looking …", "");
  findings.hidden = true;
  const bytes = new Uint8Array(await chosen.arrayBuffer());
  const { instance } = await WebAssembly.instantiate(Uint8Array.from(atob(AUDIT_MODULE), (c) => c.charCodeAt(0)));
  const { memory, allocate, audit_file: run, report_len: length } = instance.exports;
  const at = allocate(bytes.length);
  new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
  const report = run();
  const [first, ...lines] = new TextDecoder().decode(new Uint8Array(memory.buffer, report, length())).split("\n");
  show(`${chosen.name}: ${lines.shift()}`, first);
  findings.textContent = lines.join("\n");
  findings.hidden = lines.length === 0;
}

function start(files) {
  if (files.length > 0) audit(files[0]).catch((error) => show(`The audit failed: ${error.message}`, "bad"));
}

if (typeof AUDIT_MODULE === "undefined") {
  file.disabled = true;
  show("This copy of the site was made without the audit as WebAssembly.", "bad");
}
file.addEventListener("change", () => start(file.files));
for (const [name, over] of [["dragover", true], ["dragleave", false], ["drop", false]]) {
  document.addEventListener(name, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", over);
    if (name === "drop" && !file.disabled) start(event.dataTransfer.files);
  });
}
