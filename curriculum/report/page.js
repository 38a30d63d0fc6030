"use strict";
const themes = JSON.parse(document.getElementById("themes").textContent);
const dark = matchMedia("(prefers-color-scheme: dark)");
const plots = [...document.querySelectorAll("[data-plot]")];
const config = {
  displaylogo: false, responsive: true, modeBarButtonsToRemove: ["lasso2d", "select2d"], showSendToCloud: false, plotlyServerURL: "",
};
if (matchMedia("(max-width: 40rem)").matches) config.displayModeBar = false;

function draw(place) {
  const plot = JSON.parse(document.getElementById(place.dataset.plot).textContent);
  plot.layout.template = themes[dark.matches ? "dark" : "light"];
  place.dataset.drawn = "yes";
  // The group around a figure says in words what it shows; the letters on its axes would be read one by one.
  const hide = () => document.querySelectorAll("svg").forEach((drawing) => drawing.setAttribute("aria-hidden", "true"));
  Plotly.react(place, plot.data, plot.layout, config).then(hide);
}

const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (entry.isIntersecting) {
      seen.unobserve(entry.target);
      draw(entry.target);
    }
  }
}, {rootMargin: "800px"});
plots.forEach((place) => seen.observe(place));
dark.addEventListener("change", () => plots.filter((place) => place.dataset.drawn).forEach(draw));
addEventListener("beforeprint", () => plots.filter((place) => !place.dataset.drawn).forEach(draw));

function csv(table) {
  const cell = (c) => (/[",\n]/.test(c) ? `"${c.replaceAll('"', '""')}"` : c);
  return [...table.rows].map((row) => [...row.cells].map((c) => cell(c.textContent.trim())).join(",")).join("\n");
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

addEventListener("click", async (event) => {
  const button = event.target;
  const name = button.dataset?.copy;
  if (!name) return;
  const source = document.getElementById(name);
  const table = source.querySelector("table");
  const done = await copy(table ? csv(table) : source.textContent);
  button.focus();
  button.dataset.label ??= button.textContent;
  button.textContent = done ? "Copied." : "This browser does not let the page copy.";
  clearTimeout(button.dataset.timer);
  button.dataset.timer = setTimeout(() => { button.textContent = button.dataset.label; }, 1500);
  const status = document.getElementById("copied");
  status.textContent = "";
  setTimeout(() => { status.textContent = button.textContent; }, 50);
});
