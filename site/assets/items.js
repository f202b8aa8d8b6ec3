// Hides the rows that the filters exclude. Without scripts the whole table is there.
"use strict";
const form = document.querySelector(".filters");
const [text, status, way, trust] = ["text", "status", "way", "trust"].map((id) => document.getElementById(id));
const rows = [...document.querySelectorAll("#items tbody tr")].map((row) => ({
  row,
  name: row.cells[0].textContent.toLowerCase(),
  status: row.cells[1].textContent,
  ways: [...row.querySelectorAll("[data-way]")],
}));

function filter() {
  const wanted = text.value.trim().toLowerCase();
  let count = 0;
  for (const { row, name, status: own, ways } of rows) {
    const link = ways.find((link) => link.dataset.way === way.value);
    const shown = name.includes(wanted)
      && (!status.value || own === status.value || link.dataset.status.split(", ").includes(status.value))
      && (!trust.value || link.dataset.trust.split(" ").includes(trust.value));
    row.hidden = !shown;
    for (const other of ways) other.hidden = other !== link;
    count += shown;
  }
  document.getElementById("count").textContent = `${count} of ${rows.length} items`;
}

form.hidden = false;
form.addEventListener("input", filter);
form.addEventListener("submit", (event) => event.preventDefault());
filter();
