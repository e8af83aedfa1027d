"use strict";
for (const table of document.querySelectorAll("table")) {
  const [head, ...rows] = table.rows;
  [...head.cells].forEach((cell, column) => {
    const value = row => row.cells[column].textContent;
    const sort = () => {
      const falling = cell.getAttribute("aria-sort") === "ascending";
      for (const other of head.cells) other.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", falling ? "descending" : "ascending");
      const numeric = rows.some(row => !Number.isNaN(parseFloat(value(row)))) &&
        rows.every(row => !Number.isNaN(parseFloat(value(row))) || value(row) === "-");
      const order = (a, b) => {
        if (!numeric) return value(a).localeCompare(value(b));
        // What is not defined comes last, whichever way.
        const [x, y] = [a, b].map(row => parseFloat(value(row)));
        return Number.isNaN(x) ? (Number.isNaN(y) ? 0 : falling ? -1 : 1)
          : Number.isNaN(y) ? (falling ? 1 : -1) : x - y;
      };
      const sorted = [...rows].sort((a, b) => falling ? order(b, a) : order(a, b));
      table.tBodies[0].append(...sorted);
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
