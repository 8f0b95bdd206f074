"use strict";
(() => {
  const page = JSON.parse(document.getElementById("contents").textContent);
  const at = id => document.getElementById(id);
  const LIGHT = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#333333"];
  const DARK = ["#4FA8E0", "#F0814A", "#2BC297", "#E2A0C6", "#F2B544", "#9AD6FF", "#CFCFCF"];
  const SCALE = ["#440154", "#414487", "#2a788e", "#22a884", "#7ad151", "#d8e219"].map(hex => [1, 3, 5].map(k => parseInt(hex.slice(k, k + 2), 16)));
  const dark = matchMedia("(prefers-color-scheme: dark)");

  // ---- Numbers, text and colours ----
  function decode(packed) {
    const bytes = Uint8Array.from(atob(packed.base64), c => c.charCodeAt(0));
    const values = new ({ float32: Float32Array, int32: Int32Array, uint8: Uint8Array }[packed.type])(bytes.buffer);
    return "unit" in packed ? Float64Array.from(values, value => value * packed.unit) : values;
  }
  const labels = decode(page.labels), place = decode(page.map), order = decode(page.order);
  const columns = page.columns.map(column => ({ name: column.name, values: decode(column.values) }));
  const n = page.n, Word = page.word[0].toUpperCase() + page.word.slice(1);
  const number = value => value === null || Number.isNaN(value) ? "unknown" : String(+Number(value).toPrecision(6));
  const nameOf = i => page.names ? page.names[i] : `row ${i}`;
  const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const hue = label => label < 0 ? css("--muted") : (dark.matches ? DARK : LIGHT)[label % 7];
  const shape = label => label < 0 ? 0 : Math.floor(label / 7) % 3;
  function ramp(t) {
    if (!(t >= 0)) return css("--faint");
    const x = Math.min(t, 1) * (SCALE.length - 1), k = Math.min(Math.floor(x), SCALE.length - 2), f = x - k;
    return `rgb(${SCALE[k].map((c, j) => Math.round(c + f * (SCALE[k + 1][j] - c))).join(",")})`;
  }
  function make(tag, attributes = {}, ...children) {
    const isSvg = ["svg", "path", "rect", "line", "text", "circle", "polyline", "polygon", "g"].includes(tag);
    const node = isSvg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  }
  function mark(label, colour) {
    const forms = [["circle", { cx: 6, cy: 6, r: 5 }], ["rect", { x: 1.5, y: 1.5, width: 9, height: 9 }], ["polygon", { points: "6,0.5 11.5,11 0.5,11" }]];
    const [tag, attributes] = forms[shape(label)];
    return make("svg", { width: 12, height: 12, "aria-hidden": "true" }, make(tag, { ...attributes, fill: colour }));
  }

  // ---- The map ----
  const canvas = at("map"), pen = canvas.getContext("2d");
  const shown = new Set(page.manifolds.keys());
  shown.add(-1);
  let view = null, chosen = -1, found = null, colours = [], ratio = 1, waiting = false;
  const box = { left: Infinity, right: -Infinity, low: Infinity, high: -Infinity };
  for (let i = 0; i < n; i++) {
    box.left = Math.min(box.left, place[2 * i]); box.right = Math.max(box.right, place[2 * i]);
    box.low = Math.min(box.low, place[2 * i + 1]); box.high = Math.max(box.high, place[2 * i + 1]);
  }
  function whole() {
    const width = canvas.clientWidth, height = canvas.clientHeight;
    const spanX = box.right - box.left || 1, spanY = box.high - box.low || 1;
    const scale = Math.min((width - 48) / spanX, (height - 76) / spanY);
    return { scale, least: scale / 2, x: width / 2 - scale * (box.left + box.right) / 2, y: (height - 26) / 2 + scale * (box.low + box.high) / 2 };
  }
  const toX = i => view.x + view.scale * place[2 * i], toY = i => view.y - view.scale * place[2 * i + 1];
  const isShown = i => shown.has(labels[i]) && (found === null || found.has(i));
  function draw() { if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; paint(); }); } }
  function paint() {
    const width = canvas.clientWidth, height = canvas.clientHeight;
    ratio = devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
      view = null;
    }
    if (view === null) view = whole();
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    const size = dotSize();
    let last = null;
    for (let i = 0; i < n; i++) {
      if (!isShown(i)) continue;
      const x = toX(i), y = toY(i);
      if (x < -9 || y < -9 || x > width + 9 || y > height + 9) continue;
      if (colours[i] !== last) { pen.fillStyle = last = colours[i]; }
      dot(x, y, size, shape(labels[i]));
    }
    if (chosen >= 0) {
      pen.strokeStyle = css("--ink"); pen.lineWidth = 2;
      pen.beginPath(); pen.arc(toX(chosen), toY(chosen), size + 4, 0, 7); pen.stroke();
    }
    nameManifolds(width, height);
    drawBar(height);
  }
  const dotSize = () => Math.max(1.3, Math.min(5, 62 / Math.sqrt(n)) * Math.min(2, Math.sqrt(view.scale / (2 * view.least))));
  function dot(x, y, size, form) {
    if (form === 1) { pen.fillRect(x - size * .9, y - size * .9, size * 1.8, size * 1.8); return; }
    pen.beginPath();
    if (form === 2) { pen.moveTo(x, y - size * 1.2); pen.lineTo(x + size * 1.15, y + size * .9); pen.lineTo(x - size * 1.15, y + size * .9); }
    else pen.arc(x, y, size, 0, 6.2832);
    pen.fill();
  }
  const tops = page.manifolds.map(() => ({ left: Infinity, right: -Infinity, high: -Infinity }));
  for (let i = 0; i < n; i++) {
    if (labels[i] < 0) continue;
    const top = tops[labels[i]];
    top.left = Math.min(top.left, place[2 * i]); top.right = Math.max(top.right, place[2 * i]); top.high = Math.max(top.high, place[2 * i + 1]);
  }
  function nameManifolds(width, height) {
    if (tops.length < 2 || tops.length > 60) return;
    pen.font = "600 13px system-ui, sans-serif"; pen.textAlign = "center"; pen.lineWidth = 3; pen.strokeStyle = css("--card");
    tops.forEach((top, label) => {
      if (!shown.has(label)) return;
      const x = view.x + view.scale * (top.left + top.right) / 2, y = view.y - view.scale * top.high - 9;
      if (x < 0 || x > width || y < 8 || y > height) return;
      pen.strokeText(String(label), x, y); pen.fillStyle = hue(label); pen.fillText(String(label), x, y);
    });
  }
  function drawBar(height) {
    const most = 120 / view.scale, power = 10 ** Math.floor(Math.log10(most));
    const length = [5, 2, 1].map(k => k * power).find(k => k <= most), x = 14, y = height - 14;
    pen.strokeStyle = pen.fillStyle = css("--muted"); pen.lineWidth = 2;
    pen.beginPath(); pen.moveTo(x, y); pen.lineTo(x + length * view.scale, y); pen.stroke();
    pen.font = "12px system-ui, sans-serif"; pen.textAlign = "left"; pen.fillText(number(length), x + length * view.scale + 6, y + 4);
  }
  function zoom(factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
    const scale = Math.min(Math.max(view.scale * factor, view.least), view.least * 4000), real = scale / view.scale;
    view = { ...view, scale, x: x - real * (x - view.x), y: y - real * (y - view.y) };
    draw();
  }
  function nearest(x, y, within) {
    let best = -1, least = within * within;
    for (let i = 0; i < n; i++) {
      const dx = toX(i) - x, dy = toY(i) - y, far = dx * dx + dy * dy;
      if (far <= least && isShown(i)) { best = i; least = far; }
    }
    return best;
  }
  function choose(i, speak = false) {
    if (i === chosen && !speak) return;
    chosen = i;
    const tip = at("tip");
    tip.hidden = i < 0;
    if (i >= 0) {
      tip.replaceChildren(...describe(i));
      const x = toX(i), y = toY(i), right = x > canvas.clientWidth / 2, below = y > canvas.clientHeight / 2;
      tip.style.left = right ? "" : `${x + 14}px`; tip.style.right = right ? `${canvas.clientWidth - x + 14}px` : "";
      tip.style.top = below ? "" : `${y + 14}px`; tip.style.bottom = below ? `${canvas.clientHeight - y + 14}px` : "";
      if (speak) at("said").textContent = [...tip.childNodes].map(node => node.textContent).filter(Boolean).join(", ");
    }
    draw();
  }
  function describe(i) {
    const parts = [];
    if (page.sheet) parts.push(picture(i));
    parts.push(make("b", {}, nameOf(i)));
    const lines = [labels[i] < 0 ? `in no ${page.word}` : `${page.word} ${labels[i]}`];
    if (!Number.isNaN(order[i])) lines.push(`position ${order[i].toFixed(3)} along it`);
    if (page.names) lines.push(`row ${i}`);
    if (page.given) lines.push(`given: ${page.given[i]}`);
    for (const column of columns.slice(0, 4)) lines.push(`${column.name}: ${number(column.values[i])}`);
    for (const line of lines) parts.push(make("div", {}, line));
    return parts;
  }
  function picture(i) {
    const side = page.sheet.side, across = Math.min(50, n), grow = Math.max(1, Math.round(96 / side)), cell = side * grow;
    const node = make("span", { class: "picture" });
    node.style.cssText += `width:${cell}px;height:${cell}px;background-image:url(data:image/png;base64,${page.sheet.png});` +
      `background-size:${across * cell}px auto;background-position:${-(i % across) * cell}px ${-Math.floor(i / across) * cell}px`;
    return node;
  }

  // ---- Colours and what is shown ----
  const choices = [["manifold", page.word], ["order", "position along it"]];
  if (page.given) choices.push(["given", "given labels"]);
  columns.forEach((column, j) => choices.push([`column ${j}`, column.name]));
  for (const [value, text] of choices) at("colour").append(make("option", { value }, text));
  function recolour() {
    const by = at("colour").value, legend = at("legend");
    if (by === "manifold") { colours = Array.from(labels, hue); showManifolds(); draw(); return; }
    if (by === "given") {
      const names = [...new Set(page.given)].sort(), index = new Map(names.map((name, k) => [name, k]));
      colours = page.given.map(name => hue(index.get(name)));
      legend.replaceChildren(...names.slice(0, 60).map(name => { const item = make("span", { class: "scale" }, mark(0, hue(index.get(name))), name); return item; }));
      draw(); return;
    }
    const values = by === "order" ? order : columns[Number(by.slice(7))].values;
    let low = Infinity, high = -Infinity;
    for (const value of values) if (Number.isFinite(value)) { low = Math.min(low, value); high = Math.max(high, value); }
    colours = Array.from(values, value => Number.isFinite(value) ? ramp(high > low ? (value - low) / (high - low) : .5) : css("--faint"));
    const bar = make("i"); bar.style.background = `linear-gradient(90deg, ${[0, .2, .4, .6, .8, 1].map(ramp).join(",")})`;
    legend.replaceChildren(make("span", { class: "scale" }, number(low), bar, number(high)));
    draw();
  }
  function showManifolds() {
    const items = page.manifolds.map((size, label) => [label, size]).slice(0, 300);
    const outside = n - page.manifolds.reduce((sum, size) => sum + size, 0);
    if (outside) items.push([-1, outside]);
    at("legend").replaceChildren(...items.map(([label, size]) => {
      const button = make("button", { type: "button", "aria-pressed": shown.has(label), "data-manifold": label }, mark(label, hue(label)), `${label < 0 ? "none" : label} (${size})`);
      button.addEventListener("click", () => {
        if (shown.has(label)) shown.delete(label); else shown.add(label);
        button.setAttribute("aria-pressed", shown.has(label));
        if (chosen >= 0 && !isShown(chosen)) choose(-1);
        say(); draw();
      });
      return button;
    }));
  }
  function say() {
    let count = 0;
    for (let i = 0; i < n; i++) count += isShown(i);
    at("said").textContent = count === n ? "" : `${count} of ${n} points shown`;
  }
  at("colour").addEventListener("change", recolour);
  at("find").addEventListener("input", () => {
    const text = at("find").value.trim().toLowerCase();
    found = text === "" ? null : new Set(Array.from({ length: n }, (_, i) => i).filter(i => nameOf(i).toLowerCase().includes(text) || String(i) === text));
    choose(found !== null && found.size === 1 ? [...found][0] : -1); say(); draw();
  });

  // ---- Mouse, touch and keys ----
  const fingers = new Map();
  let moved = false;
  const here = event => { const edge = canvas.getBoundingClientRect(); return [event.clientX - edge.left, event.clientY - edge.top]; };
  canvas.addEventListener("wheel", event => { event.preventDefault(); zoom(Math.exp(-event.deltaY / 400), ...here(event)); }, { passive: false });
  canvas.addEventListener("pointerdown", event => { canvas.setPointerCapture(event.pointerId); fingers.set(event.pointerId, here(event)); moved = false; });
  canvas.addEventListener("pointermove", event => {
    const [x, y] = here(event), before = fingers.get(event.pointerId);
    if (!before) { if (view) choose(nearest(x, y, 14)); return; }
    if (Math.hypot(x - before[0], y - before[1]) < 3 && !moved) return;
    moved = true; choose(-1);
    const other = [...fingers].find(([id]) => id !== event.pointerId);
    if (other) zoom(Math.hypot(x - other[1][0], y - other[1][1]) / (Math.hypot(before[0] - other[1][0], before[1] - other[1][1]) || 1), ...other[1]);
    else { view.x += x - before[0]; view.y += y - before[1]; draw(); }
    fingers.set(event.pointerId, [x, y]);
  });
  for (const kind of ["pointerup", "pointercancel"]) canvas.addEventListener(kind, event => {
    if (kind === "pointerup" && !moved) choose(nearest(...here(event), 24), true);
    fingers.delete(event.pointerId);
  });
  canvas.addEventListener("pointerleave", () => { if (!fingers.size) choose(-1); });
  canvas.addEventListener("keydown", event => {
    const step = 40, moves = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (moves[event.key]) { view.x += moves[event.key][0]; view.y += moves[event.key][1]; draw(); }
    else if (event.key === "+" || event.key === "=") zoom(1.4);
    else if (event.key === "-") zoom(1 / 1.4);
    else if (event.key === "0") { view = null; draw(); }
    else if (event.key === "n" || event.key === "p") walk(event.key === "n" ? 1 : n - 1);
    else if (event.key === "Escape") choose(-1);
    else return;
    event.preventDefault();
  });
  const along = Array.from({ length: n }, (_, i) => i).sort((a, b) => (labels[a] < 0) - (labels[b] < 0) || labels[a] - labels[b] || order[a] - order[b] || a - b);
  function walk(step) {
    let k = chosen < 0 ? (step === 1 ? n - 1 : 0) : along.indexOf(chosen);
    for (let tries = 0; tries < n; tries++) { k = (k + step) % n; if (isShown(along[k])) { choose(along[k], true); return; } }
  }
  at("zoom-in").addEventListener("click", () => zoom(1.6));
  at("zoom-out").addEventListener("click", () => zoom(1 / 1.6));
  at("reset").addEventListener("click", () => { view = null; draw(); });
  new ResizeObserver(draw).observe(canvas);

  // ---- Q ----
  const pixels = decode(page.affinity.pixels);
  function shades(sheet, side, values, edge) {
    sheet.width = sheet.height = side + edge;
    const ink = sheet.getContext("2d"), image = ink.createImageData(side, side), deep = css("--deep").split(",").map(Number);
    for (let k = 0; k < side * side; k++) image.data.set([...deep, values[k]], 4 * k);
    ink.clearRect(0, 0, side + edge, side + edge);
    ink.putImageData(image, edge, edge);
    return ink;
  }
  function drawAffinity() {
    const side = page.affinity.side, edge = Math.max(2, Math.round(side / 28)), sheet = at("affinity");
    const ink = shades(sheet, side, pixels, 2 * edge);
    page.affinity.strip.forEach((label, k) => { ink.fillStyle = hue(label); ink.fillRect(2 * edge + k, 0, 1, edge); ink.fillRect(0, 2 * edge + k, edge, 1); });
    sheet.style.imageRendering = side < 200 ? "pixelated" : "auto";
  }

  // ---- Small figures ----
  function frame(height, describeIt) { return make("svg", { class: "figure", viewBox: `0 0 520 ${height}`, role: "img", "aria-label": describeIt }); }
  function text(x, y, string, anchor = "start") { return make("text", { x, y, "text-anchor": anchor }, string); }
  function drawBounds() {
    const rows = page.bounds.seconds.map((t, k) => [t, page.bounds.lower[k], page.bounds.upper[k]]).filter(row => row[1] !== null && row[2] !== null);
    const { lower, upper, inertia, most, found: value, best } = page.proof, figure = frame(190, "Lower and upper bound against time");
    at("proof").textContent = page.proof.said;
    at("kmeans").textContent = inertia === null ? "" : `For K-means: no clustering into at most ${most} clusters has an inertia (within-cluster sum of squares) below ${inertia}.`;
    if (!rows.length) { at("bounds").replaceChildren(); return; }
    const tail = rows.slice(-12), span = Math.min(Math.max(...tail.map(r => r[2])) - Math.min(...tail.map(r => r[1])), 20 * (upper - lower)) || Math.abs(upper) || 1;
    const low = Math.max(Math.min(...tail.map(r => r[1])), lower - span) - .1 * span, high = Math.min(Math.max(...tail.map(r => r[2])), upper + span) + .1 * span;
    const first = rows[0][0], last = rows[rows.length - 1][0];
    const x = t => 12 + 496 * (last > first ? (t - first) / (last - first) : .5), y = v => 20 + 140 * (high - Math.min(Math.max(v, low), high)) / (high - low || 1);
    const steps = which => rows.map((row, k) => `${k ? `H${x(row[0])}V` : `M${x(row[0])} `}${y(row[which])}`).join("") + "H508";
    figure.append(make("path", { d: steps(2), fill: "none", stroke: hue(1), "stroke-width": 2.5 }), make("path", { d: steps(1), fill: "none", stroke: hue(0), "stroke-width": 2.5 }));
    for (const row of rows) for (const which of [1, 2]) figure.append(make("circle", { cx: x(row[0]), cy: y(row[which]), r: 3.5, fill: hue(which - 1) }));
    figure.append(text(508, 12, `none is better than ${best}`, "end"), text(508, 174, `found ${value}`, "end"), text(12, 186, first < last ? `${first.toFixed(2)} s to ${last.toFixed(2)} s` : `after ${last.toFixed(2)} s`));
    at("bounds").replaceChildren(figure);
  }
  function drawSpectrum() {
    const figure = frame(190, "Eigenvalues of Q from the largest on"), values = page.spectrum, count = page.manifolds.length;
    const x = k => 34 + 474 * (k + .5) / values.length, y = v => 14 + 150 * (1 - v);
    for (const v of [0, .5, 1]) figure.append(make("line", { x1: 34, x2: 508, y1: y(v), y2: y(v), stroke: css("--line") }), text(28, y(v) + 4, String(v), "end"));
    if (count < values.length) figure.append(make("line", { x1: x(count - .5), x2: x(count - .5), y1: 8, y2: 164, stroke: css("--muted"), "stroke-dasharray": "2 4" }), text(x(count - .5) + 5, 160, `${count} ${page.word}${count > 1 ? "s" : ""}`));
    values.forEach((value, k) => figure.append(make("circle", { cx: x(k), cy: y(value), r: 4, fill: hue(0) })));
    at("spectrum").replaceChildren(figure);
  }
  function drawTree() {
    const tree = page.tree;
    if (tree === null || !tree.parent.length) { at("tree-card").hidden = true; return; }
    const figure = frame(230, "Branches of points that come together as fainter links count"), deepest = 4, total = n;
    const middle = tree.middles;
    const x = p => 52 + 456 * p / total, y = h => 16 + 190 * Math.min(h, deepest) / deepest;
    ["1", "1/10", "1/100", "1/1000", "apart"].forEach((name, k) => figure.append(make("line", { x1: 52, x2: 508, y1: y(k), y2: y(k), stroke: css("--line") }), text(46, y(k) + 4, name, "end")));
    tree.parent.forEach((above, k) => {
      const width = Math.max(1.5, x(tree.sizes[k]) - x(0) - 1.5), top = y(tree.born[k]), bottom = above < 0 ? y(deepest) : y(tree.ends[k]);
      figure.append(make("rect", { x: x(middle[k]) - width / 2, y: top, width, height: Math.max(bottom - top, 1), rx: 2, fill: tree.labels[k] < 0 ? css("--faint") : hue(tree.labels[k]) }));
      if (above >= 0) figure.append(make("line", { x1: x(middle[k]), x2: x(middle[above]), y1: bottom, y2: bottom, stroke: css("--ink") }));
    });
    at("tree").replaceChildren(figure);
  }

  function drawSearch() {
    const search = page.search;
    if (search === null) return;
    const deep = css("--deep"), head = make("tr", {}, make("th", { scope: "col" }, "prominence"), ...search.K.map(K => make("th", { scope: "col" }, `K = ${K}`)));
    const rows = search.prominences.map((prominence, t) => make("tr", {}, make("th", { scope: "row" }, prominence), ...search.K.map((_, k) => {
      const cell = make("td", {}, String(search.parts[k][t])), share = search.agreement[k][t];
      cell.style.background = `rgba(${deep},${(.75 * share).toFixed(2)})`;
      if (share > .75) cell.style.color = css("--card");
      return cell;
    })));
    at("search").replaceChildren(make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)), make("p", { class: "note" },
      `Number of parts that the automatic choice saw in rough solutions, for each K and for each prominence (how far a peak of density must stand out); the stronger the colour, the better they agree with what was taken. What was taken is the division for which most speaks over all of them.${search.evidence ? ` In all: ${search.evidence} (strength: for several parts rather than one; margin: for this number rather than another).` : ""}`));
  }
  function drawPath() {
    const path = page.path;
    if (path === null) { at("path-card").hidden = true; return; }
    const figure = frame(210, "Number of parts against K"), most = Math.max(...path.parts) + 1;
    const low = Math.log(path.K[0]), span = Math.log(path.K[path.K.length - 1]) - low || 1;
    const x = K => 40 + 440 * (path.K.length > 1 ? (Math.log(K) - low) / span : .5), y = parts => 168 - 150 * parts / most;
    const step = Math.max(1, Math.ceil(most / 6));
    for (let k = 0; k < most; k += step) figure.append(make("line", { x1: 34, x2: 508, y1: y(k), y2: y(k), stroke: css("--line") }), text(28, y(k) + 4, String(k), "end"));
    figure.append(make("polyline", { points: path.K.map((K, k) => `${x(K)},${y(path.parts[k])}`).join(" "), fill: "none", stroke: css("--faint"), "stroke-width": 2 }));
    path.K.forEach((K, k) => figure.append(make("circle", { cx: x(K), cy: y(path.parts[k]), r: 3 + 5 * (path.clear[k] ?? 0), fill: hue(0) }), text(x(K), 186, String(+K.toPrecision(3)), "middle")));
    figure.append(text(508, 204, "K", "end"));
    at("path").replaceChildren(figure);
    at("path-said").textContent = path.said;
  }
  const layers = page.layers === null ? [] : page.layers.map(layer => ({ ...layer, values: decode(layer.pixels) }));
  function drawLayers() {
    at("layers-card").hidden = !layers.length;
    at("layers").replaceChildren(...layers.map(layer => {
      const sheet = make("canvas", { role: "img", "aria-label": `Q of the layer ${layer.said}` });
      shades(sheet, layer.side, layer.values, 0);
      return make("figure", {}, sheet, make("figcaption", {}, layer.said));
    }));
  }

  // ---- Rows ----
  const rowsOf = new Map();
  for (const i of along) { if (!rowsOf.has(labels[i])) rowsOf.set(labels[i], []); rowsOf.get(labels[i]).push(i); }
  const SHOWN_AT_ONCE = 100;
  function fill(table, members, from) {
    for (const i of members.slice(from, from + SHOWN_AT_ONCE)) {
      const cells = [String(i), nameOf(i), Number.isNaN(order[i]) ? "" : order[i].toFixed(4), number(place[2 * i]), number(place[2 * i + 1])];
      if (page.given) cells.push(page.given[i]);
      table.append(make("tr", {}, ...cells.map(cell => make("td", {}, cell))));
    }
  }
  function listRows() {
    at("tables").replaceChildren(...[...rowsOf].slice(0, 300).map(([label, members]) => {
      const what = label < 0 ? `In no ${page.word}` : `${Word} ${label}${page.closed[label] ? ", closed" : ""}`;
      const details = make("details", {}, make("summary", {}, mark(label, hue(label)), `${what}: ${members.length} points`));
      details.addEventListener("toggle", () => {
        if (details.childElementCount > 1) return;
        const head = ["row", "name", "position", "map x", "map y", ...(page.given ? ["given"] : [])];
        const body = make("tbody"), more = make("button", { type: "button" }, "Show more");
        let from = 0;
        const next = () => { fill(body, members, from); from += SHOWN_AT_ONCE; more.hidden = from >= members.length; };
        more.addEventListener("click", next);
        details.append(make("div", { class: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, ...head.map(cell => make("th", { scope: "col" }, cell)))), body)), more);
        next();
      });
      return details;
    }));
  }
  // A cell that a spreadsheet would take for a formula begins with an apostrophe.
  const cell = value => { const safe = /^[=+\-@\t\r]/.test(value) && Number.isNaN(Number(value)) ? `'${value}` : value; return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe; };
  function csv() {
    const lines = [["row", ...(page.names ? ["name"] : []), page.word, "position", "map_x", "map_y", ...(page.given ? ["given"] : [])].join(",")];
    for (let i = 0; i < n; i++) {
      const cells = [i, ...(page.names ? [page.names[i]] : []), labels[i], Number.isNaN(order[i]) ? "" : order[i], +place[2 * i].toPrecision(8), +place[2 * i + 1].toPrecision(8), ...(page.given ? [page.given[i]] : [])];
      lines.push(cells.map(value => cell(String(value))).join(","));
    }
    return lines.join("\n") + "\n";
  }
  at("download").addEventListener("click", () => {
    const link = make("a", { href: URL.createObjectURL(new Blob([csv()], { type: "text/csv" })), download: "rows.csv" });
    document.body.append(link); link.click(); link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });

  // ---- How it was made ----
  function list(id, entries) {
    at(id).replaceChildren(...Object.entries(entries).filter(([, value]) => value !== null).flatMap(([key, value]) => [make("dt", {}, key), make("dd", {}, String(value))]));
  }
  list("made", page.made.facts);
  list("settings", page.made.settings);
  at("repeat").textContent = page.made.command === null ? page.made.python : page.made.command;
  at("facts").textContent = `K = ${page.made.facts.K}, about ${number(Math.round(n / Number(page.made.facts.K)))} neighbours per point; ${page.manifolds.slice(0, 8).join(" + ")}${page.manifolds.length > 8 ? " + …" : ""} points.`;

  function drawAll() { recolour(); drawAffinity(); drawBounds(); drawSpectrum(); drawTree(); drawSearch(); drawPath(); drawLayers(); listRows(); }
  dark.addEventListener("change", drawAll);
  drawAll();
  document.documentElement.dataset.ready = "yes";
})();
