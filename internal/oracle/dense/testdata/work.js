// Objects, closures, strings, regular expressions, exceptions. It prints the same in every run.
function Random(seed) { this.seed = seed; }
Random.prototype.next = function (n) { this.seed = (this.seed * 1103515245 + 12345) % 2147483648; return this.seed % n; };

function queens(n, row, cols, d1, d2) {
  if (row === n) return 1;
  var found = 0;
  for (var c = 0; c < n; c++) {
    if (cols[c] || d1[row + c] || d2[row - c + n]) continue;
    cols[c] = d1[row + c] = d2[row - c + n] = true;
    found += queens(n, row + 1, cols, d1, d2);
    cols[c] = d1[row + c] = d2[row - c + n] = false;
  }
  return found;
}

function count(rounds) {
  var r = new Random(7), words = [], table = {};
  for (var i = 0; i < rounds; i++) words.push("w" + r.next(500));
  words.forEach(function (w) { table[w] = (table[w] || 0) + 1; });
  var top = Object.keys(table).sort(function (a, b) { return table[b] - table[a] || (a < b ? -1 : 1); }).slice(0, 5);
  print(top.map(function (w) { return w + "=" + table[w]; }).join(" "));
  return words.join(" ");
}

function rewrite(text, rounds) {
  var n = 0;
  for (var i = 0; i < rounds; i++) {
    n += text.replace(/w(\d)(\d*)/g, function (m, a, b) { return b + a; }).split(/\s+/).length;
    n += JSON.stringify(JSON.parse('{"a":[1,2,{"b":null,"c":"' + i + '"}],"d":[true,false,1.5]}')).length;
  }
  print(n);
}

function fail(rounds) {
  var sum = 0;
  for (var n = 0; n < rounds; n++) {
    try { if (n % 3 === 0) throw new Error("three " + n); if (n % 5 === 0) null.x; sum += n; }
    catch (e) { sum += e instanceof TypeError ? -1 : -2; } finally { sum++; }
  }
  print(sum);
}

function Tree() { this.root = null; }
Tree.prototype.add = function (key) {
  var node = { key: key, left: null, right: null };
  if (!this.root) { this.root = node; return; }
  for (var at = this.root; ;) {
    var side = key < at.key ? "left" : "right";
    if (!at[side]) { at[side] = node; return; }
    at = at[side];
  }
};
Tree.prototype.sum = function () { return (function walk(n) { return n ? walk(n.left) + n.key % 7 + walk(n.right) : 0; })(this.root); };

print(queens(8, 0, [], [], []));
var text = count(150000);
rewrite(text.substr(0, 20000), 60);
fail(25000);
var tree = new Tree(), random = new Random(3);
for (var i = 0; i < 60000; i++) tree.add(random.next(1000000));
print(tree.sum());
