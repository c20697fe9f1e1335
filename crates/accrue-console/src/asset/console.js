"use strict";
// Whatever this adds works without it too: copying, and going to what is wrong.

for (const button of document.querySelectorAll("[data-copy]")) {
  const field = document.getElementById(button.dataset.copy);
  if (!field || !navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(field.value);
    button.textContent = "Copied";
  });
}

for (const field of document.querySelectorAll(".secret input")) {
  field.addEventListener("focus", () => field.select());
}

// A page that says what is wrong is read from there.
const said = document.querySelector("[role=alert]");
if (said) {
  said.tabIndex = -1;
  said.focus();
}
