# Classes, dictionaries, strings, sorting and recursion, for Python 2.2. It prints the same in every run.

class Node:
    def __init__(self, key):
        self.key, self.left, self.right = key, None, None
    def add(self, key):
        node = self
        while 1:
            if key < node.key:
                if node.left is None:
                    node.left = Node(key)
                    return
                node = node.left
            else:
                if node.right is None:
                    node.right = Node(key)
                    return
                node = node.right
    def walk(self, visit):
        if self.left: self.left.walk(visit)
        visit(self.key)
        if self.right: self.right.walk(visit)

class Vector:
    def __init__(self, *v): self.v = v
    def __add__(self, o): return Vector(*map(lambda a, b: a + b, self.v, o.v))
    def __mul__(self, k): return Vector(*[a * k for a in self.v])
    def __cmp__(self, o): return cmp(self.v, o.v)
    def __len__(self): return len(self.v)

def tree(n):
    seed, root = 7, Node(500000)
    for i in xrange(n):
        seed = (seed * 1103 + 12345) % 1000003
        root.add(seed)
    total = [0]
    def visit(k, total=total): total[0] = (total[0] * 3 + k) % 65521
    root.walk(visit)
    print total[0]

def vectors(n):
    sum = Vector(0, 0, 0)
    for i in xrange(n):
        v = Vector(i, i % 7, i % 11) * 3
        if v > sum or len(v) == 3: sum = sum + v
    print sum.v

def words(n):
    count = {}
    for i in xrange(n):
        for w in ("the word%d of line %d" % (i % 37, i)).split():
            count[w] = count.get(w, 0) + 1
    top = [(c, w) for w, c in count.items()]
    top.sort()
    print top[-3:]

def replace(n):
    text, hits = "mail to user%d@host%d today", 0
    for i in xrange(n):
        line = (text % (i, i % 9)).replace("host", "HOST")
        if line.find("HOST7") > 0: hits = hits + len(line.split("@")[0])
    print hits

def sieve(n):
    flags = [1] * n
    for i in xrange(2, n):
        if flags[i]:
            for k in xrange(i * 2, n, i): flags[k] = 0
    print reduce(lambda a, b: a + b, flags)

tree(40000); vectors(120000); words(120000); replace(120000); sieve(600000)
