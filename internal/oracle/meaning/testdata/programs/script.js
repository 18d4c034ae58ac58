// Strings, regular expressions, closures, sorting, exceptions, generators.
function Random(seed) { this.seed = seed; }
Random.prototype.next = function (n) { this.seed = (this.seed * 1103515245 + 12345) % 2147483648; return this.seed % n; };
var r = new Random(7), words = [];
for (var i = 0; i < 3000; i++) words.push("w" + r.next(500));
var count = {};
words.forEach(function (w) { count[w] = (count[w] || 0) + 1; });
var top = Object.keys(count).sort(function (a, b) { return count[b] - count[a] || (a < b ? -1 : 1); }).slice(0, 5);
print(top.map(function (w) { return w + "=" + count[w]; }).join(" "));
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
print(queens(6, 0, [], [], []));
var text = words.join(" ").replace(/w(\d)(\d*)/g, function (m, a, b) { return b + a; });
print(text.length + " " + text.substr(0, 40) + " " + text.split(/\s+/).length);
function f(n) { try { if (n % 3 === 0) throw new Error("three " + n); if (n % 5 === 0) null.x; return n; }
  catch (e) { return e instanceof TypeError ? -1 : -2; } finally { f.calls = (f.calls || 0) + 1; } }
var sum = 0;
for (var i = 0; i < 3000; i++) sum += f(i);
print(sum + " " + f.calls);
print(JSON.stringify(JSON.parse('{"a":[1,2,{"b":null}],"c":"\\u00e9"}')));
print(eval("(function () { return arguments.length; })(1, 2, 3)"));
with ({ x: 5 }) { print(x + 1); }
print([3, 1, 2].sort().concat([[4]]).toString(), new Date(0).toISOString(), parseInt("ff", 16), (255).toString(2));
