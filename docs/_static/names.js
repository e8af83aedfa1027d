// Names for what the theme leaves without: toggles of the contents, and the wide search button,
// whose label lacks the keys that it shows.
document.addEventListener("DOMContentLoaded", () => {
  for (const toggle of document.querySelectorAll("summary:has(> .toctree-toggle)"))
    toggle.setAttribute("aria-label", "Below " + toggle.closest("li").querySelector("a").textContent);
  for (const button of document.querySelectorAll(".search-button-field"))
    button.setAttribute("aria-label", button.textContent.replace(/\s+/g, " ").trim());
});
