"use strict";
// Draw every chart in the reader's light or dark setting, and again when that changes.
const looks = LOOKS;
console.warn = () => {}; // the library's remarks are for whoever makes a chart, not for its reader
const dark = window.matchMedia("(prefers-color-scheme: dark)");

function draw() {
  const config = dark.matches ? looks.dark : looks.light;
  for (const place of document.querySelectorAll(".chart")) {
    const spec = JSON.parse(place.nextElementSibling.textContent);
    const settings = { mode: "vega-lite", renderer: "svg", actions: false, ast: true, config };
    vegaEmbed(place, spec, settings).catch((error) => {
      place.textContent = "This chart could not be drawn: " + error.message;
    });
  }
}

dark.addEventListener("change", draw);
draw();
