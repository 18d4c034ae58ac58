const dimensions = ["version", "device", "scene"];
const tables = { version: data.versions, device: data.devices, scene: data.scenes };
const many = (n, what) => `${count(n)} ${what}${n === 1 ? "" : "s"}`;

// filters are the filters that are set, by what they choose; of all but the cause, the number of a name.
function filters() {
  const set = {};
  for (const by of [...dimensions, "kind"]) if ($(by).value !== "") set[by] = by === "kind" ? $(by).value : Number($(by).value);
  return set;
}

// within returns how many users and stalls of a group pass the filters; null if none does. A group does not say how
// many users of a release have one device: with several filters, these are the most that are possible.
function within(group, set) {
  const found = { users: group.users, stalls: group.stalls, most: false };
  let count = 0;
  for (const by of dimensions) {
    if (!(by in set)) continue;
    const share = group[by].find(([name]) => name === set[by]);
    if (!share) return null;
    found.users = Math.min(found.users, share[1]);
    found.stalls = Math.min(found.stalls, share[2]);
    count++;
  }
  if ("kind" in set) {
    const share = group.kinds.find(([kind]) => kind === set.kind);
    if (!share) return null;
    found.stalls = Math.min(found.stalls, share[1]);
    count++;
  }
  found.most = count > 1 || "kind" in set;
  return found;
}

// matches says whether a text is in what a group shows.
const matches = (group, text) => [group.name, group.title, group.verdict, group.key, ...group.path, ...group.calls.map((c) => c[1]), ...group.stacks.flatMap((s) => s.frames)]
  .some((t) => t.toLowerCase().includes(text));

function show() {
  const set = filters(), text = $("search").value.toLowerCase(), body = $("groups").tBodies[0];
  const rows = data.groups.map((group) => ({ group, found: within(group, set) }))
    .filter(({ group, found }) => found && (text === "" || matches(group, text)))
    .sort((a, b) => b.found.users * b.group.mean - a.found.users * a.group.mean);
  body.replaceChildren();
  for (const { group, found } of rows) {
    const row = element("tr", "", body), head = element("th", "", row), { method, of } = parts(group.method);
    head.scope = "row";
    const button = element("button", method || group.name, head);
    button.title = group.name;
    element("small", of || group.key, head);
    element("small", group.verdict, head).title = group.verdict;
    const most = found.most ? "≤ " : "";
    element("td", most + count(found.users), row);
    element("td", most + count(found.stalls), row).className = "wide";
    element("td", time(group.mean), row);
    element("td", group.first === group.last ? group.last : `${group.first} –\n${group.last}`, row).className = "wide";
    element("td", group.since, row).className = "wide";
    row.dataset.key = group.key;
    button.addEventListener("click", () => { select(group); if (matchMedia("(max-width: 800px)").matches) $("details").scrollIntoView(); });
  }
  $("found").textContent = `${many(rows.length, "group")}${rows.length < data.groups.length ? ` of ${count(data.groups.length)}` : ""}, those first that take users the most time` +
    (data.more > 0 ? `; ${count(data.more)} more are left out` : "");
  select(rows.some(({ group }) => group === shown) ? shown : rows.length > 0 ? rows[0].group : null);
}

let shown = null;

// table adds a table with how many users and stalls there are by a name. of has the users of all of that name, if known.
function table(parent, title, shares, names, of) {
  if (shares.length === 0) return;
  const all = element("table", "", parent), head = element("tr", "", element("thead", "", all)), body = element("tbody", "", all);
  for (const column of [title, "Users", "Stalls", ""]) element("th", column, head).scope = "col";
  head.lastChild.setAttribute("aria-label", of ? "Share of the release's users" : "Share");
  const part = ([name, users]) => users / (of ? of.get(name) : shares[0][1]), most = Math.max(...shares.map(part));
  for (const share of shares) {
    const row = element("tr", "", body);
    element("th", names[share[0]], row).scope = "row";
    element("td", count(share[1]) + (of ? ` (${(100 * part(share)).toLocaleString("en", { maximumFractionDigits: 1 })} %)` : ""), row);
    element("td", count(share[2]), row);
    const cell = element("td", "", row);
    cell.className = "bar";
    element("i", "", cell).style.width = `${100 * part(share) / most}%`;
  }
}

function list(parent, title, of, entries) {
  if (entries.length === 0) return;
  element("h2", title, parent);
  const list = element("ol", "", parent);
  list.className = of;
  for (const text of entries) element("li", text, list);
}

// calls adds the tree of the longest calls.
function calls(parent, entries) {
  if (entries.length === 0) return;
  element("h2", "Longest calls", parent);
  const list = element("ul", "", parent);
  for (const [depth, name, number, total] of entries) {
    const line = element("li", "", list), { method, of } = parts(name);
    line.style.paddingLeft = `${Math.min(depth, 15)}ch`;
    line.title = name;
    element("b", `${time(total)} `, line);
    line.append(method);
    element("small", `${number > 1 ? ` ${count(number)} ×` : ""} ${of}`, line);
  }
}

function facts(parent, entries) {
  const list = element("dl", "", parent);
  for (const [name, value] of entries) {
    if (value === "" || value === undefined) continue;
    element("dt", name, list);
    element("dd", value, list);
  }
}

function select(group) {
  shown = group;
  for (const row of $("groups").tBodies[0].rows) row.setAttribute("aria-current", group !== null && row.dataset.key === group.key);
  const details = $("details");
  details.replaceChildren();
  if (!group) {
    element("p", "No group passes the filters.", details);
    return;
  }
  const up = element("button", "Back to the groups", details);
  up.id = "up";
  up.addEventListener("click", () => $("list").scrollIntoView());
  element("h3", group.name, details);
  element("p", group.verdict, details);
  facts(details, [["users", count(group.users)], ["stalls", `${count(group.stalls)} in ${many(group.recordings, "recording")}`],
    ["average", time(group.mean)], ["median", time(group.median)], ["nine of ten", `below ${time(group.p90)}`],
    ["first", `${group.since} ${group.first}`.trim()], ["last", `${group.until} ${group.last}`.trim()],
    ["causes", group.kinds.map(([kind, n]) => `${kind} ${count(n)}`).join(", ")], ["key", group.key]]);
  element("h2", "By release", details);
  table(details, "Release", group.version, data.versions, new Map(data.releases.map(([name, users]) => [name, users])));
  element("h2", "Where", details);
  table(details, "Device", group.device, data.devices);
  table(details, "Scene", group.scene, data.scenes);
  if (group.cut) element("p", "More releases, devices or scenes are left out.", details);
  element("h2", "The longest", details);
  facts(details, [["took", time(group.longest)], ["is", group.place], ["ran", group.title], ["when", group.when],
    ["release", group.of], ["device", group.on], ["scene", group.at], ["thread", group.thread], ...group.facts]);
  list(details, "Hot path", "path", group.path);
  calls(details, group.calls);
  for (const { title, frames } of group.stacks) list(details, title, "stack", frames);
}

for (const by of dimensions) {
  const all = element("option", { version: "All releases", device: "All devices", scene: "All scenes" }[by], $(by));
  all.value = "";
  const names = tables[by].map((name, k) => [name, k]);
  if (by === "version") names.reverse();
  for (const [name, k] of names) element("option", name, $(by)).value = k;
}
element("option", "All causes", $("kind")).value = "";
for (const kind of [...new Set(data.groups.flatMap((group) => group.kinds.map(([kind]) => kind)))].sort()) element("option", kind, $("kind")).value = kind;
for (const by of [...dimensions, "kind"]) $(by).addEventListener("change", show);
$("search").addEventListener("input", show);
document.body.addEventListener("keydown", (event) => {
  if (event.key === "/" && event.target !== $("search")) { event.preventDefault(); $("search").focus(); }
  if (event.key === "Escape" && event.target === $("search")) { $("search").value = ""; show(); }
});
$("title").textContent = document.title = data.title;
$("status").textContent = data.status;
$("releases-title").hidden = data.releases.length === 0;
table($("releases"), "Release", data.releases.slice().reverse(), data.versions);
show();
document.documentElement.dataset.ready = performance.now();
