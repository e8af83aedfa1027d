"use strict";
for (const table of document.querySelectorAll("table")) {
  const [head, ...rows] = table.rows;
  [...head.cells].forEach((cell, column) => {
    const text = row => row.cells[column].textContent;
    // What has no number comes last, whichever way.
    const number = row => parseFloat(text(row));
    const sort = () => {
      const sign = cell.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of head.cells) other.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      const known = rows.filter(row => !isNaN(number(row)));
      const others = rows.filter(row => isNaN(number(row)));
      known.sort((a, b) => sign * (number(a) - number(b)));
      others.sort((a, b) => sign * text(a).localeCompare(text(b)));
      table.tBodies[0].append(...known, ...others);
    };
    cell.tabIndex = 0;
    cell.title = "Sort";
    cell.addEventListener("click", sort);
    cell.addEventListener("keydown", event => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(); }
    });
  });
}
addEventListener("beforeprint", () => {
  for (const hidden of document.querySelectorAll("details")) hidden.open = true;
});
