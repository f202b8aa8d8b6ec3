// What scrolls can be scrolled with the keyboard.
for (const element of document.querySelectorAll("pre > code, .table-wrapper")) element.tabIndex = 0;
