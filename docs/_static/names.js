// Names for what the theme leaves without: toggles of the contents, and the wide search button,
// whose label lacks the keys that it shows. What scrolls can be reached by keys; roles of
// references that no browser knows go. Broad pictures scroll on a phone, and stay readable.
addEventListener("load", () => {
  const each = (what, change) => document.querySelectorAll(what).forEach(change);
  each("summary:has(> .toctree-toggle)", toggle =>
    toggle.setAttribute("aria-label", "Below " + toggle.closest("li").querySelector("a").textContent));
  each(".search-button-field", button =>
    button.setAttribute("aria-label", button.textContent.replace(/\s+/g, " ").trim()));
  each(".citation-list, .citation", reference => reference.removeAttribute("role"));
  each(".bd-article p > img", image =>
    image.parentElement.classList.toggle("broad", image.naturalWidth > 720));
  each("div.math, .broad", block => { if (block.scrollWidth > block.clientWidth) block.tabIndex = 0; });
});
