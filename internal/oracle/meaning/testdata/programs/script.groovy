// Calls of every dynamic kind, with seeds of its own: the same output every time.
import groovy.transform.*

@ToString @EqualsAndHashCode @Sortable
class Item { String name; int weight; BigDecimal price }

@CompileStatic
int fib(int n) { n < 2 ? n : fib(n - 1) + fib(n - 2) }

trait Loud { String shout() { name.toUpperCase() + '!' } }
class Dog implements Loud { String name = 'rex'; def methodMissing(String m, args) { "$m(${args.join(',')})" } }

def random = new Random(42)
def items = (1..400).collect { new Item(name: "item-$it", weight: random.nextInt(50), price: it * 1.25) }
println items.groupBy { it.weight % 7 }.collectEntries { k, v -> [k, v*.price.sum()] }.sort()
println items.sort(false) { a, b -> b.weight <=> a.weight ?: a.name <=> b.name }.take(5)
println items.inject(0G) { acc, it -> acc + it.price * it.weight }
println fib(18)
def dog = new Dog()
println "${dog.shout()} ${dog.fetch('stick', 3)}"
Integer.metaClass.twice = { -> delegate * 2 }
println((1..2000).sum { it.twice() })
def closure = { x, y = 3 -> x * y } >> { it + 1 }
println((1..2000).collect { closure(it) }.findAll { it % 2 }.size())
def text = (1..300).collect { "line $it of ${it % 3 == 0 ? 'fizz' : 'buzz'}" }.join('\n')
println text.readLines().findAll { it =~ /fizz$/ }.collect { (it =~ /\d+/)[0] as int }.sum()
def memo = { long n -> n < 2 ? n : call(n - 1) + call(n - 2) }.memoize()
println memo(14)
try { null.foo() } catch (NullPointerException e) { println 'no foo on null' }
try { items.first().nothing } catch (MissingPropertyException e) { println e.property }
def sum = 0
for (i in 0..<20000) { switch (i) { case { it % 15 == 0 }: sum += 15; break; case 1..100: sum += 1; break; case ~/.*7/: sum += 7; break; default: sum -= 1 } }
println sum
new File('groovy.txt').text = items*.toString().join('\n')
