// Runs before the first paint, so that a remembered theme never flashes.
(() => {
  let theme = null;
  try {
    theme = localStorage.getItem("footnote/theme");
  } catch {
    // Storage may be forbidden; then the system decides.
  }
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
})();
