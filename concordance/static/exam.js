// The exam page's script. The page is whole without it; this moves the board as k moves, opens worksheets in place,
// and asks the server for what only the server can do: sign, judge anew, check a copy. It asks no other host.
"use strict";

const find = (selector, root = document) => root.querySelector(selector);
const findAll = (selector, root = document) => [...root.querySelectorAll(selector)];

function made(tag, text, className = "") {
  const element = document.createElement(tag);
  element.textContent = text;
  if (className) element.className = className;
  return element;
}

const signed = (number) => (number < 0 ? `−${-number}` : `+${number}`);

async function call(address, body) {
  const options = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const reply = await fetch(address, options);
  const said = await reply.json();
  if (!said.ok) throw new Error(said.errors.map((error) => error.message).join("; "));
  return said;
}

// A form or button that asks the server: busy while it does, and what comes back is said in `status`.
async function asking(button, status, ask) {
  button.disabled = true;
  status.replaceChildren(made("p", "…"));
  try {
    status.replaceChildren(...(await ask()));
  } catch (error) {
    status.replaceChildren(made("p", error.message, "bad"));
  } finally {
    button.disabled = false;
  }
}

// Board: governed score = correct - abstained - k × wrong, from the counts on the page.

const governed = ([correct, abstain, wrong], k) => correct - abstain - k * wrong;

function ranking(tallies, k) {
  const before = (one, other) =>
    governed(tallies[other], k) - governed(tallies[one], k) ||
    tallies[one][2] - tallies[other][2] ||
    (one < other ? -1 : 1);
  return Object.keys(tallies).sort(before);
}

function arithmetic([correct, abstain, wrong], k) {
  return [
    [`${correct} correct`, correct],
    [`${abstain} abstained × −1`, 0 - abstain],
    [`${wrong} wrong × −${k}`, 0 - k * wrong],
    ["governed score", governed([correct, abstain, wrong], k)],
  ];
}

function line([name, value]) {
  const item = document.createElement("li");
  const sum = document.createElement("span");
  sum.append(made("span", "= ", "unseen"), signed(value));
  item.append(made("span", name), " ", sum);
  return item;
}

function reorder(body, rows) {
  const from = new Map(rows.map((row) => [row, row.getBoundingClientRect().top]));
  body.append(...rows);
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  for (const row of rows) {
    const moved = from.get(row) - row.getBoundingClientRect().top;
    if (moved) {
      row.animate([{ transform: `translateY(${moved}px)` }, { transform: "none" }], { duration: 260, easing: "ease" });
    }
  }
}

function startBoard(table) {
  const slider = find("#k");
  const tallies = JSON.parse(table.dataset.standings);
  const spreads = JSON.parse(table.dataset.spreads);
  const breakEvens = table.dataset.breakEvens.split(" ");
  const body = find("tbody", table);
  const rows = new Map(findAll("tr", body).map((row) => [row.dataset.candidate, row]));

  function show() {
    const k = Number(slider.value);
    const order = ranking(tallies, k);
    order.forEach((name, place) => {
      const row = rows.get(name);
      find(".place", row).textContent = place + 1;
      find(".score", row).textContent = signed(governed(tallies[name], k));
      find(".sum", row).replaceChildren(...arithmetic(tallies[name], k).map(line));
      find(".spread", row).textContent = spreads[name][k - 1];
    });
    reorder(body, order.map((name) => rows.get(name)));
    find("#k-shown").textContent = `k = ${k}`;
    find("#surer").textContent = Math.round((100 * (k - 1)) / (k + 1));
    find("#fraction").textContent = breakEvens[k - 1];
    const here = `${(100 * (k - slider.min)) / (slider.max - slider.min)}%`;
    for (const end of ["x1", "x2"]) find("#here").setAttribute(end, here);
    const said = order.map((name, place) => `${place + 1}. ${name}, ${signed(governed(tallies[name], k))}`);
    find("#ranked").textContent = `At k = ${k}: ${said.join("; ")}`;
    const price = find("#sign [name=k]");
    if (price) price.value = k;
    const address = new URL(location);
    address.searchParams.set("k", k);
    history.replaceState(null, "", address);
  }

  slider.addEventListener("input", show);
  if (Number(slider.value) !== Number(slider.defaultValue)) show(); // a browser that remembers where it stood
}

// Worksheets: the page of one, shown in the dialog.

function startWorksheets(dialog) {
  const within = find(".within", dialog);

  async function open(address) {
    const reply = await fetch(address);
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    const sheet = find("#worksheet", page);
    if (!sheet) return location.assign(address);
    const title = find("h1", sheet);
    title.replaceWith(made("h2", title.textContent));
    find(".label", sheet).remove();
    within.replaceChildren(document.adoptNode(sheet));
    dialog.setAttribute("aria-label", title.textContent);
    if (dialog.open) within.focus();
    else dialog.showModal();
    dialog.scrollTop = 0;
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="/exam/worksheet/"]');
    if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    open(link.href).catch(() => location.assign(link.href));
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
}

// Sign-off, replay, tampering.

function startSigning(form) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const { owner, k } = form.elements;
    asking(find("button", form), find("#signed-off"), async () => {
      const body = { owner: owner.value, k: Number(k.value), head: form.dataset.head };
      const said = await call("/exam/api/sign", body);
      form.dataset.head = said.head;
      find("#head").textContent = said.head;
      const kept = made("p", "Keep this head elsewhere: ");
      kept.append(made("code", said.head));
      const how = said.signed ? "Signed and entered" : "Entered";
      const done = `${how}: ${said.owner} at k = ${said.k}: ${said.ranking.join(", ")}.`;
      return [made("p", done, "good"), kept];
    });
  });
}

function startReplay(button) {
  button.addEventListener("click", () => {
    asking(button, find("#replayed"), async () => {
      const { sittings, different } = await call("/exam/api/replay", {});
      const same = `${sittings} sitting${sittings === 1 ? "" : "s"} judged anew: the same verdicts, byte for byte.`;
      return different.length ? different.map((text) => made("p", text, "bad")) : [made("p", same, "good")];
    });
  });
}

function startTampering(form) {
  const { row, score, value, rehash } = form.elements;
  const rows = new Map(findAll(".ledger tbody tr").map((each) => [each.dataset.row, each]));
  const says = new Map([...rows].map(([number, each]) => [number, find(".says", each).textContent]));
  const honest = () => Number(row.selectedOptions[0].dataset[score.value]);
  const suggest = () => (value.value = honest() + 1);

  function restore() {
    for (const [number, each] of rows) mark(number, each, [], says.get(number));
  }

  function mark(number, each, faults, text) {
    each.classList.toggle("broken", faults.length > 0);
    find(".says", each).textContent = text;
    const state = find(".state", each);
    state.className = faults.length ? "state" : "state good";
    state.textContent = faults.length ? `BROKEN: ${faults.join("; ")}` : "holds";
  }

  row.addEventListener("change", suggest);
  score.addEventListener("change", suggest);
  form.addEventListener("reset", () => {
    restore();
    find("#tampered").replaceChildren();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    restore();
    asking(find("button", form), find("#tampered"), async () => {
      const change = { row: Number(row.value), score: score.value, value: Number(value.value), rehash: rehash.checked };
      const said = await call("/exam/api/tamper", change);
      const name = score.selectedOptions[0].textContent;
      const changed = `${says.get(row.value)} → ${change.value} ${name} (in the copy)`;
      for (const [number, each] of rows) {
        mark(number, each, said.broken[number] ?? [], number === row.value ? changed : says.get(number));
      }
      const broken = Object.keys(said.broken);
      const others = said.rows - broken.filter((each) => each !== "end").length;
      const where = broken.map((each) => (each === "end" ? "The end" : `Row ${each}`)).join(", ");
      return [made("p", `${where} ${broken.length === 1 ? "breaks" : "break"}; the other ${others} rows hold.`, "bad")];
    });
  });
}

const parts = [
  ["#standings", startBoard],
  ["#sheet", startWorksheets],
  ["#sign", startSigning],
  ["#replay", startReplay],
  ["#tamper", startTampering],
];
for (const [selector, start] of parts) {
  const element = find(selector);
  if (element) start(element);
}
