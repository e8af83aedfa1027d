for (const slider of document.querySelectorAll("#plo")) {
  const triples = text => {
    const list = text.split(" ").filter(Boolean).map(Number);
    return Array.from({ length: list.length / 3 }, (_, i) => list.slice(3 * i, 3 * i + 3));
  };
  const short = x => `${Number(x.toPrecision(3))}`;
  const percent = x => `${short(100 * x)} %`;
  const sigmoid = x => 1 / (1 + Math.exp(-x));
  const plos = slider.dataset.plo.split(" ").map(Number);
  const cost = (plo, [miss, fa]) => (sigmoid(plo) * miss + sigmoid(-plo) * fa) / sigmoid(-Math.abs(plo));
  const said = slider.parentNode.querySelector("output");
  const table = document.querySelector("#readings");
  const systems = [...table.querySelectorAll("tbody tr")].map(row => ({
    row, mark: row.className, box: row.querySelector("input"), name: row.querySelector("label span + span").textContent,
    det: triples(row.dataset.det), bayes: triples(row.dataset.bayes),
  }));
  const shown = () => systems.filter(system => system.box.checked);

  const probit = p => {
    let low = -9, high = 9;
    while (high - low > 1e-4) {
      const x = (low + high) / 2, t = 1 / (1 + 0.2316419 * Math.abs(x));
      const tail = Math.exp(-x * x / 2) * 0.3989423 * t *
        (0.3193815 + t * (-0.3565638 + t * (1.781478 + t * (-1.821256 + t * 1.330274))));
      if ((x < 0 ? tail : 1 - tail) < p) low = x; else high = x;
    }
    return low;
  };

  const ratios = { bayes: 1, ece: Math.LOG10E, histogram: -1, tippett: -Math.LOG10E };
  const figures = [...document.querySelectorAll("figure[data-kind]")].map(figure => {
    const svg = figure.querySelector("svg"), kind = figure.dataset.kind;
    const [left, right, bottom, top] = figure.dataset.axes.split(" ").map(Number);
    const add = (name, attributes) => {
      const element = document.createElementNS(svg.namespaceURI, name);
      for (const key in attributes) element.setAttribute(key, attributes[key]);
      element.classList.add("live");
      svg.append(element);
      return element;
    };
    const inside = share => Math.min(1, Math.max(0, share));
    const place = (x, y) => {
      const box = svg.querySelector(".frame").getBBox();
      return [box.x + box.width * inside((x - left) / (right - left)), box.y + box.height * inside((top - y) / (top - bottom))];
    };
    const colour = system => {
      const strokes = [...svg.querySelectorAll(`.${system.mark}:not(.key) path`)].map(path => getComputedStyle(path).stroke);
      return strokes.find(stroke => stroke !== "none") || "black";
    };
    return { figure, svg, kind, left, right, bottom, top, add, place, colour };
  });

  const curves = {
    det: {
      points: system => system.det,
      at: ([fa, miss]) => [probit(fa), probit(miss)],
      text: ([fa, miss, threshold]) =>
        `false alarms ${percent(fa)}, misses ${percent(miss)}, threshold ${short(threshold)}`,
    },
    bayes: {
      points: system => system.bayes.map((point, i) => [plos[i], cost(plos[i], point), point[2]]),
      at: ([plo, actual]) => [plo, actual],
      text: ([plo, actual, least]) =>
        `prior ${percent(sigmoid(plo))} (log-odds ${short(plo)}), actual cost ${short(actual)}, minimum ${short(least)}`,
    },
  };
  for (const plot of figures.filter(({ kind }) => kind in curves)) {
    const { points, at, text } = curves[plot.kind], card = plot.svg.parentNode;
    const dot = plot.add("circle", { r: 4, fill: "none", "stroke-width": 2, visibility: "hidden" });
    const reading = document.createElement("p");
    const hint = "Point at a curve to read it, or press arrow keys: left and right along a curve, up and down between systems.";
    reading.className = "reading";
    reading.setAttribute("role", "status");
    reading.textContent = hint;
    card.after(reading);
    card.tabIndex = 0;
    card.setAttribute("role", "group");
    card.setAttribute("aria-label", `${plot.svg.getAttribute("aria-label")}: read with arrow keys`);
    const inView = new Map(systems.map(system => [system, points(system).filter(point => {
      const [x, y] = at(point);
      return x >= plot.left && x <= plot.right && y >= plot.bottom && y <= plot.top;
    })]));
    let system = null, index = 0;
    const read = (next, i) => {
      const list = inView.get(next);
      if (!list.length) { reading.textContent = `${next.name}: no point in view`; system = next; return; }
      system = next;
      index = Math.min(list.length - 1, Math.max(0, i));
      const [x, y] = plot.place(...at(list[index]));
      const look = { cx: x, cy: y, stroke: plot.colour(system), visibility: "visible" };
      for (const key in look) dot.setAttribute(key, look[key]);
      reading.textContent = `${system.name}: ${text(list[index])}`;
    };
    const point = event => {
      const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(plot.svg.getScreenCTM().inverse());
      let least = 30;
      let best = null;
      for (const one of shown()) inView.get(one).forEach((values, i) => {
        const [a, b] = plot.place(...at(values)), far = Math.hypot(a - x, b - y);
        if (far < least) [least, best] = [far, [one, i]];
      });
      if (best) read(...best);
    };
    plot.svg.addEventListener("pointermove", point);
    plot.svg.addEventListener("pointerdown", point);
    card.addEventListener("keydown", event => {
      const list = shown();
      const along = { ArrowLeft: -1, ArrowRight: 1 }[event.key], across = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (!list.length || !(along || across)) return;
      event.preventDefault();
      const at = list.indexOf(system);
      if (at < 0) read(list[0], Math.floor(inView.get(list[0]).length / 2));
      else if (across) read(list[(at + across + list.length) % list.length], index);
      else read(system, index + along * (plot.kind === "det" ? -1 : 1));
    });
  }

  for (const plot of figures) {
    plot.lines = plot.kind in ratios ? [plot.add("path", { fill: "none", stroke: "#d00000", "stroke-width": 1.5 })] : [];
    plot.marks = plot.kind === "det" ? systems.map(system => {
      const mark = plot.add("path", { fill: "none", "stroke-width": 2, stroke: plot.colour(system) });
      mark.classList.add(system.mark);
      return mark;
    }) : [];
  }
  const move = () => {
    const i = Number(slider.value), plo = plos[i];
    said.textContent = `${percent(sigmoid(plo))}, log-odds ${short(plo)}, threshold ${short(-plo)}`;
    slider.setAttribute("aria-valuetext", said.textContent);
    for (const { row, bayes } of systems) {
      const [miss, fa, least] = bayes[i];
      const texts = [short(100 * miss), short(100 * fa), short(cost(plo, bayes[i])), short(least)];
      texts.forEach((text, k) => { row.cells[k + 1].textContent = text; });
    }
    for (const { kind, left, right, bottom, top, place, lines, marks } of figures) {
      for (const line of lines) {
        const x = ratios[kind] * plo;
        const [a, b] = place(x, bottom), [, c] = place(x, top);
        line.setAttribute("d", x < left || x > right ? "" : `M${a} ${b}V${c}`);
      }
      marks.forEach((mark, k) => {
        const [miss, fa] = systems[k].bayes[i], [a, b] = place(probit(fa), probit(miss));
        mark.setAttribute("d", `M${a - 5} ${b}h10M${a} ${b - 5}v10`);
      });
    }
  };
  const toggle = () => {
    for (const { mark, box } of systems)
      for (const part of document.querySelectorAll(`figure .${mark}, figure.${mark}`)) part.classList.toggle("off", !box.checked);
  };
  for (const { mark, box, row } of systems) {
    box.addEventListener("change", toggle);
    row.querySelector(".swatch").style.background = figures.length ? figures[0].colour({ mark }) : "";
    for (const key of document.querySelectorAll(`.${mark}.key`)) key.addEventListener("click", () => box.click());
  }
  slider.addEventListener("input", move);
  slider.parentNode.hidden = table.hidden = false;
  move();
}
