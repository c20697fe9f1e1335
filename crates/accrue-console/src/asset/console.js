"use strict";
// Whatever this adds works without it too: copying, going to what is wrong, and dragging a threshold.

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

// A threshold is dragged in a plot: its field says the value, and can be typed in as well.
for (const frame of document.querySelectorAll("[data-drag]")) {
  const field = document.getElementById(frame.dataset.drag);
  const plot = frame.querySelector("svg[data-ends]");
  if (!field || !plot) continue;
  const [low, bottom, high, top] = plot.dataset.ends.split(" ").map(Number);
  const [, , width] = plot.getAttribute("viewBox").split(" ").map(Number);
  const line = plot.appendChild(document.createElementNS(plot.namespaceURI, "line"));
  line.setAttribute("class", "mark draft");
  line.setAttribute("visibility", "hidden");
  line.setAttribute("x1", "60");
  line.setAttribute("x2", String(width - 12));
  // As many digits as a place on the picture can tell apart.
  const places = Math.min(20, Math.max(0, 2 - Math.floor(Math.log10((high - low) / 10))));
  const drag = (event) => {
    const box = plot.getBoundingClientRect();
    const y = ((event.clientY - box.top) / box.height) * 220;
    const within = Math.min(bottom, Math.max(top, y));
    const value = low + ((within - bottom) / (top - bottom)) * (high - low);
    for (const end of ["y1", "y2"]) line.setAttribute(end, String(within));
    line.setAttribute("visibility", "visible");
    // Of several it is the last: the others stay.
    field.value = field.value.replace(/[^,; ]*$/, String(Number(value.toFixed(places))));
  };
  plot.classList.add("drags");
  plot.addEventListener("pointerdown", (event) => {
    plot.setPointerCapture(event.pointerId);
    drag(event);
  });
  plot.addEventListener("pointermove", (event) => {
    if (plot.hasPointerCapture(event.pointerId)) drag(event);
  });
  plot.addEventListener("pointerup", () => field.form.requestSubmit());
}
