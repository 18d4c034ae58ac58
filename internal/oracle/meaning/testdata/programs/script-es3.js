// What JavaScript was in 2002: for the Rhino of that year, whose classes are full of jsr.
function Random(seed) { this.seed = seed; }
Random.prototype.next = function (n) { this.seed = (this.seed * 1103515245 + 12345) % 2147483648; return this.seed % n; };
var r = new Random(7), words = [];
for (var i = 0; i < 4000; i++) words[words.length] = "w" + r.next(500);
var count = {}, names = [];
for (var i in words) { if (count[words[i]] == null) { count[words[i]] = 0; names.push(words[i]); } count[words[i]]++; }
names.sort(function (a, b) { return count[b] - count[a] || (a < b ? -1 : 1); });
print(names.slice(0, 5).join(" "));
function queens(n, row, cols, d1, d2) {
  if (row == n) return 1;
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
print(text.length + " " + text.substring(0, 40) + " " + text.split(/ +/).length);
function f(n) { try { if (n % 3 == 0) throw "three " + n; if (n % 5 == 0) undefinedName.x(); return n; }
  catch (e) { return typeof e == "string" ? -2 : -1; } finally { f.calls = (f.calls || 0) + 1; } }
var sum = 0;
for (var i = 0; i < 4000; i++) sum += f(i);
print(sum + " " + f.calls);
print(eval("(function () { return arguments.length; })(1, 2, 3)"));
with ({ x: 5 }) { print(x + 1); }
try { java.lang.Integer.parseInt("x"); } catch (e) { print(e); }
print(new java.util.ArrayList(java.util.Arrays.asList(["b", "a"])).size(), parseInt("ff", 16), (255).toString(2), escape("\u00e9 "));
