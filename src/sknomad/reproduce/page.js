// Show only claims with the chosen verdict; without scripts the whole page is there.
const bar = document.querySelector(".filter");
bar.hidden = false;
bar.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const chosen = button.getAttribute("aria-pressed") === "true" ? "" : button.dataset.verdict;
  for (const other of bar.querySelectorAll("button"))
    other.setAttribute("aria-pressed", String(other.dataset.verdict === chosen));
  for (const claim of document.querySelectorAll(".claim"))
    claim.hidden = Boolean(chosen) && claim.dataset.verdict !== chosen;
  for (const section of document.querySelectorAll("section.experiment"))
    section.hidden = Boolean(chosen) && !section.querySelector(".claim:not([hidden])");
  for (const row of document.querySelectorAll(".coverage tbody tr"))
    row.hidden = Boolean(chosen) && !row.querySelector(`.${chosen}`);
});
