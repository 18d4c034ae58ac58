package evidence

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/tracegen/tracegen/trace"
)

// Graft returns the tree with what its samples show: a tree of its own in which a node with [Grafted.Estimated] is a
// call that only samples show. A node may have a recorded and an estimated child of the same method. It returns t
// itself if that has no samples.
//
// The own time of a node is divided among the paths that the samples show that fell in it, by their weights. A node
// without samples is divided as all nodes of its method together. A recorded call that samples show in estimated calls
// is in these with the same share of its time as of its samples.
func Graft(t *Tree) *Tree {
	if len(t.Samples.Below) == 0 || len(t.Nodes) < 2 {
		return t
	}
	g := newGrafter(t)
	g.out = append(g.out, node{Node: Node{Total: t.Nodes[0].Total}, from: 0})
	g.out[0].Grafted.Samples = int(g.under[0].effective())
	g.places[0] = []place{{0, 1}}
	for k := int32(1); int(k) < len(t.Nodes); k++ {
		g.place(k)
		g.divide(k)
	}
	return g.tree()
}

// weight is how much samples say.
type weight struct{ SampleWeight }

// effective returns how many equally long samples say as much.
func (w weight) effective() float64 {
	if w.Squares <= 0 {
		return 0
	}
	return w.Weight * w.Weight / w.Squares
}

// place is a node of the grafted tree in which a node of the recorded tree has a share of its time.
type place struct {
	at    int32
	share float64
}

// shown are the samples that are divided alike, those of a node or of all nodes of a method.
type shown struct {
	weight
	list []SamplesBelow // with a known path
	next float64        // where the next node without samples begins in them, from 0 to 1
}

// outside are the calls that samples show between a node and its caller.
type outside struct {
	all  weight // of all samples that show both
	list []SamplesBetween
}

// node is a node of the grafted tree.
type node struct {
	Node
	from     int32 // the node of the recorded tree; of an estimated node that of the recorded call around it
	hidden   int64 // time in calls that the recorded tree leaves out
	samples  int   // samples of the node itself and in estimated calls below it
	pooled   int   // the same if only others of the method have some
	self     weight
	cpuKnown bool
}

// key identifies a node below another one.
type key struct {
	parent    int32
	method    trace.Method
	estimated bool
}

// grafter makes a grafted tree.
type grafter struct {
	from    *Tree
	own     []shown   // by node: the samples that fell in it
	under   []weight  // by node: all samples in it and below
	outside []outside // by node
	pool    map[trace.Method]*shown
	edges   map[[2]trace.Method]*outside
	places  [][]place // by node
	out     []node
	index   map[key]int32
	least   int64 // how long a part is at least into which a node without samples is divided
}

const (
	// parts is into how many parts the time of the whole tree is divided at most, beside one for each node.
	parts = 1 << 16
	// maxPlaces is in how many places a node of the recorded tree is at most.
	maxPlaces = 4
)

func newGrafter(t *Tree) *grafter {
	n := len(t.Nodes)
	g := &grafter{from: t, own: make([]shown, n), under: make([]weight, n), outside: make([]outside, n),
		pool: map[trace.Method]*shown{}, edges: map[[2]trace.Method]*outside{}, places: make([][]place, n),
		index: map[key]int32{}, least: max(1, t.Nodes[0].Total/parts)}
	for _, b := range t.Samples.Below {
		g.under[b.Node].Add(b.SampleWeight)
		if b.Path != PathUnknown {
			g.own[b.Node].add(b)
			g.pooled(t.Nodes[b.Node].Method).add(b)
		}
	}
	for k := n - 1; k > 0; k-- {
		g.under[t.Nodes[k].Parent].Add(g.under[k].SampleWeight)
	}
	for _, b := range t.Samples.Between {
		g.outside[b.Node].list = append(g.outside[b.Node].list, b)
		e := g.edge(b.Node)
		e.list = append(e.list, b)
	}
	for k := 1; k < n; k++ {
		g.outside[k].all = g.under[k]
		if e := g.edges[g.ends(int32(k))]; e != nil {
			e.all.Add(g.under[k].SampleWeight)
		}
	}
	return g
}

func (s *shown) add(b SamplesBelow) {
	s.Add(b.SampleWeight)
	s.list = append(s.list, b)
}

// pooled returns the samples of all nodes of a method.
func (g *grafter) pooled(m trace.Method) *shown {
	p := g.pool[m]
	if p == nil {
		p = &shown{}
		g.pool[m] = p
	}
	return p
}

// ends returns the methods of a node and its caller.
func (g *grafter) ends(k int32) [2]trace.Method {
	n := &g.from.Nodes[k]
	return [2]trace.Method{g.from.Nodes[n.Parent].Method, n.Method}
}

func (g *grafter) edge(k int32) *outside {
	e := g.edges[g.ends(k)]
	if e == nil {
		e = &outside{}
		g.edges[g.ends(k)] = e
	}
	return e
}

// place decides in which places of the grafted tree a node is.
func (g *grafter) place(k int32) {
	of := &g.outside[k]
	if of.all.Weight == 0 {
		if of = g.edges[g.ends(k)]; of == nil {
			of = &outside{}
		}
	}
	n := &g.from.Nodes[k]
	shares := map[int32]float64{}
	order := []int32{}
	for _, p := range g.places[n.Parent] {
		direct := p.share
		put := func(path int32, share float64) {
			at := g.below(g.graft(p.at, path, k), n.Method, false, k)
			if _, known := shares[at]; !known {
				order = append(order, at)
			}
			shares[at] += share
		}
		for _, b := range of.list {
			share := p.share * b.Weight / of.all.Weight
			direct -= share
			put(b.Path, share)
		}
		if direct > 1e-9 || len(of.list) == 0 {
			put(0, max(0, direct))
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(shares[b], shares[a]) })
	for i, at := range order {
		if i < maxPlaces {
			g.places[k] = append(g.places[k], place{at, shares[at]})
		} else {
			g.places[k][0].share += shares[at]
		}
	}
	// The calls are where most of the time is: the samples do not say where each was.
	to := &g.out[g.places[k][0].at]
	to.Calls, to.Longest, to.Marked = to.Calls+n.Calls, max(to.Longest, n.Longest), to.Marked+n.Marked
}

// graft returns the node of a path of estimated calls below another one. k is the recorded node around it.
func (g *grafter) graft(at, path, k int32) int32 {
	if path <= 0 {
		return at
	}
	f := g.from.Samples.Frames[path]
	return g.below(g.graft(at, f.Parent, k), f.Method, true, k)
}

// below returns the node of a method below another one, which is made if it is new.
func (g *grafter) below(parent int32, m trace.Method, estimated bool, from int32) int32 {
	id := key{parent, m, estimated}
	k, known := g.index[id]
	if !known {
		k = int32(len(g.out))
		g.index[id] = k
		n := node{Node: Node{Method: m, Parent: parent}, from: from}
		n.Grafted.Estimated = estimated
		g.out = append(g.out, n)
	}
	return k
}

// divide divides the own time of a node among the paths that samples show.
func (g *grafter) divide(k int32) {
	n := &g.from.Nodes[k]
	hidden := n.Total - n.Self
	for c := n.Child; c != 0; c = g.from.Nodes[c].Sibling {
		hidden -= g.from.Nodes[c].Total
	}
	s, pooled := &g.own[k], false
	if s.Weight == 0 && g.pool[n.Method] != nil {
		s, pooled = g.pool[n.Method], true
	}
	list, step := s.list, 0.0
	if pooled && n.Self/g.least < int64(len(list)) {
		list, step = nil, 1/float64(max(1, n.Self/g.least))
	}
	rest, restHidden, left := n.Self, hidden, 1.0
	for i, p := range g.places[k] {
		others := pooled || i > 0 // the samples count in one place, as it is not known in which each fell
		self, past := portion(rest, p.share, left), portion(restHidden, p.share, left)
		rest, restHidden, left = rest-self, restHidden-past, left-p.share
		to := &g.out[p.at]
		to.hidden += past
		to.self.Add(s.SampleWeight)
		switch {
		case s.Weight == 0:
			to.Self += self
		case step == 0:
			g.among(p.at, k, self, s, others)
		default:
			g.spread(p.at, k, self, s, step)
		}
	}
}

// portion returns the part of a whole that has a share of what is left.
func portion(whole int64, share, left float64) int64 {
	if share >= left-1e-12 {
		return whole
	}
	return int64(math.Round(float64(whole) * share / left))
}

// among divides time among all paths that samples show, in proportion to their weights.
func (g *grafter) among(at, k int32, self int64, s *shown, pooled bool) {
	rest, left := self, s.Weight
	for i := range s.list {
		b := &s.list[i]
		part := portion(rest, b.Weight, left)
		if i == len(s.list)-1 {
			part = rest
		}
		rest, left = rest-part, left-b.Weight
		g.give(at, k, part, b, pooled)
	}
}

// spread divides time among some of the paths that samples show, each part the same: the more often a path is shown,
// the more nodes have a part for it.
func (g *grafter) spread(at, k int32, self int64, s *shown, step float64) {
	n := int64(math.Round(1 / step))
	sum, i := s.list[0].Weight, 0
	for part := range n {
		point := (float64(part) + s.next) * step * s.Weight
		for sum < point && i < len(s.list)-1 {
			i++
			sum += s.list[i].Weight
		}
		g.give(at, k, self*(part+1)/n-self*part/n, &s.list[i], true)
	}
	const golden = 0.6180339887498949 // so that the points of all nodes are spread evenly
	_, s.next = math.Modf(s.next + golden)
}

// give adds time to the calls that samples show below a node.
func (g *grafter) give(at, k int32, part int64, b *SamplesBelow, pooled bool) {
	to := &g.out[g.graft(at, b.Path, k)]
	to.Self += part
	switch b.State {
	case trace.ThreadWaiting, trace.ThreadTimedWaiting:
		to.Grafted.Waiting += part
	case trace.ThreadBlocked:
		to.Grafted.Blocked += part
	}
	if b.CPUWeight > 0 {
		to.cpuKnown = true
		to.Grafted.CPU += int64(float64(part) * min(1, float64(b.CPU)/b.CPUWeight))
	}
	if pooled {
		to.pooled = max(to.pooled, b.Count)
	} else {
		to.samples += b.Count
	}
}

// tree returns the grafted tree.
func (g *grafter) tree() *Tree {
	out := g.out
	stays := make([]bool, len(out)) // places that are not used are left out
	stays[0] = true
	for k := len(out) - 1; k > 0; k-- {
		n := &out[k]
		stays[k] = stays[k] || n.Calls > 0 || n.Self+n.hidden != 0 || n.samples > 0
		stays[n.Parent] = stays[n.Parent] || stays[k]
		n.Total += n.Self + n.hidden
		parent := &out[n.Parent]
		if n.Parent > 0 {
			parent.Total += n.Total
		}
		if n.Grafted.Estimated {
			parent.samples, parent.pooled = parent.samples+n.samples, max(parent.pooled, n.pooled)
		}
	}
	t := &Tree{}
	moved := make([]int32, len(out))
	last := make([]int32, len(out))
	for k := range out {
		n := &out[k]
		if !stays[k] {
			continue
		}
		if k > 0 {
			g.bound(n)
			n.Parent = moved[n.Parent]
		}
		moved[k] = int32(len(t.Nodes))
		t.Nodes = append(t.Nodes, n.Node)
		if k == 0 {
			continue
		}
		if before := last[n.Parent]; before != 0 {
			t.Nodes[before].Sibling = moved[k]
		} else {
			t.Nodes[n.Parent].Child = moved[k]
		}
		last[n.Parent] = moved[k]
	}
	return t
}

// bound sets what is estimated of a node, and its bounds.
func (g *grafter) bound(n *node) {
	w := &n.Grafted
	if !n.cpuKnown {
		w.CPU = -1
	}
	if w.Samples = n.samples; w.Samples == 0 {
		w.Samples, w.Pooled = n.pooled, n.pooled > 0
	}
	from, under := &g.from.Nodes[n.from], g.under[n.from]
	w.TotalLow, w.TotalHigh, w.SelfLow, w.SelfHigh = n.Total, n.Total, n.Self, n.Self
	if !w.Estimated {
		if n.Total != from.Total {
			w.TotalLow, w.TotalHigh = Bounds(n.Total, from.Total, under.effective())
		}
		if w.Samples > 0 {
			w.SelfLow, w.SelfHigh = Bounds(n.Self, from.Self, n.self.effective())
		}
		return
	}
	effective := under.effective()
	if g.own[n.from].Weight == 0 && g.pool[from.Method] != nil {
		effective = max(effective, g.pool[from.Method].effective())
	}
	w.TotalLow, w.TotalHigh = Bounds(n.Total, from.Total, effective)
	w.SelfLow, w.SelfHigh = Bounds(n.Self, from.Total, effective)
}

// Bounds returns between what a part of a time lies with a probability of 95 % that n samples of the whole time show.
// n is the effective number of samples: that of equally long ones which say as much. It is the interval of Wilson.
func Bounds(part, whole int64, n float64) (low, high int64) {
	if whole <= 0 {
		return part, part
	}
	if n < 1 {
		return 0, max(part, whole)
	}
	const z = 1.959964
	p := min(1, float64(part)/float64(whole))
	middle := p + z*z/(2*n)
	half := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	scale := float64(whole) / (1 + z*z/n)
	return min(part, max(0, int64((middle-half)*scale))), max(part, min(whole, int64((middle+half)*scale)))
}

// Sum has the times of all calls of a method in a tree.
type Sum struct {
	// Method is the method.
	Method trace.Method
	// Calls is how many recorded calls there were, Marked how many of them were repaired.
	Calls, Marked uint64
	// Total is the time of all its calls in nanoseconds, recorded and estimated ones, that of calls within calls of the
	// same method counted once; Self is what of it was spent in no call below. EstimatedTotal and EstimatedSelf are the
	// parts of both that only samples show.
	Total, EstimatedTotal, Self, EstimatedSelf int64
	// Sampled is how much of Self samples say something of.
	Sampled int64
	// Grafted has Self by state, and the bounds of Total and Self when [Bound] has set them. Estimated is set if there are
	// no recorded calls.
	Grafted
}

// Sums returns the sums of a tree that [Graft] has returned, in the order of methods.
func Sums(t *Tree) []Sum {
	if len(t.Nodes) == 0 {
		return nil
	}
	sums := map[trace.Method]*sum{}
	for k := t.Nodes[0].Child; k > 0; {
		n := &t.Nodes[k]
		s := sums[n.Method]
		if s == nil {
			s = &sum{Sum: Sum{Method: n.Method, Grafted: Grafted{Estimated: true, CPU: -1}}}
			sums[n.Method] = s
		}
		s.enter(n)
		if n.Child > 0 {
			k = n.Child
			continue
		}
		for ; k > 0; k = t.Nodes[k].Parent {
			sums[t.Nodes[k].Method].leave(&t.Nodes[k])
			if next := t.Nodes[k].Sibling; next > 0 {
				k = next
				break
			}
		}
	}
	all := make([]Sum, 0, len(sums))
	for _, m := range slices.Sorted(maps.Keys(sums)) {
		s := sums[m]
		s.EstimatedTotal = s.Total - s.recorded
		if s.Samples == 0 {
			s.Samples, s.Pooled = s.pooled, s.pooled > 0
		}
		all = append(all, s.Sum)
	}
	return all
}

// sum is a [Sum] that is being made.
type sum struct {
	Sum
	recorded int64 // of Total what recorded calls took
	pooled   int   // the most samples of nodes that have only those of others
	// open is how many nodes of the method are around the next one, openRecorded how many of these are recorded.
	open, openRecorded int
}

// leave leaves a node.
func (s *sum) leave(n *Node) {
	s.open--
	if !n.Grafted.Estimated {
		s.openRecorded--
	}
}

// enter adds a node; the nodes below it come next.
func (s *sum) enter(n *Node) {
	w := &n.Grafted
	if s.open == 0 {
		s.Total += n.Total
	}
	switch {
	case s.open > 0 && w.Estimated: // its samples are also of the estimated calls around it
	case w.Pooled:
		s.pooled = max(s.pooled, w.Samples)
	default:
		s.Samples += w.Samples
	}
	s.open++
	if !n.Grafted.Estimated {
		if s.openRecorded == 0 {
			s.recorded += n.Total
		}
		s.openRecorded++
	}
	s.Calls += n.Calls
	s.Marked += n.Marked
	s.Self += n.Self
	if w.Estimated {
		s.EstimatedSelf += n.Self
	} else {
		s.Estimated = false
	}
	if w.Samples > 0 {
		s.Sampled += n.Self
	}
	s.Waiting += w.Waiting
	s.Blocked += w.Blocked
	if w.CPU >= 0 {
		s.CPU = max(0, s.CPU) + w.CPU
	}
}

// Programs returns the tree with the calls of the program's methods that only samples show: of methods that were
// switched off. The time of calls of other methods, as those of libraries, is their caller's: it is to blame for them.
func Programs(t *Tree) *Tree {
	grafted := Graft(t)
	if grafted != t {
		fold(grafted, func(m trace.Method) bool { return m >= trace.FirstNamed }, nil)
	}
	return grafted
}

// FoldRare moves the own time of estimated calls to the call around each, if fewer than least samples in all trees show
// the method itself: that would be a guess. In a system call, which system knows, the JVM does not know that a thread
// waits: time without a processor is waiting there. It changes the trees, which [Graft] has returned.
func FoldRare(trees []*Tree, least int, system func(trace.Method) bool) {
	samples := map[trace.Method]int{}
	for _, t := range trees {
		own := make([]int, len(t.Nodes)) // samples that show an estimated call and none below it
		for k := len(t.Nodes) - 1; k > 0; k-- {
			n := &t.Nodes[k]
			if n.Grafted.Estimated && !n.Grafted.Pooled {
				own[k] += n.Grafted.Samples
				own[n.Parent] -= n.Grafted.Samples
				samples[n.Method] += own[k]
			}
		}
	}
	for _, t := range trees {
		fold(t, func(m trace.Method) bool { return samples[m] < least }, system)
	}
}

// fold moves the own time of estimated calls of some methods to the call around each, whose samples these are already.
func fold(t *Tree, away, system func(trace.Method) bool) {
	for k := len(t.Nodes) - 1; k > 0; k-- {
		n := &t.Nodes[k]
		if !n.Grafted.Estimated || n.Self == 0 || !away(n.Method) {
			continue
		}
		to := &t.Nodes[n.Parent]
		from, w := &n.Grafted, &to.Grafted
		to.Self += n.Self
		if system != nil && system(n.Method) {
			from.Waiting = max(from.Waiting, n.Self-from.Blocked-max(0, from.CPU))
		}
		w.Waiting, w.Blocked = w.Waiting+from.Waiting, w.Blocked+from.Blocked
		if from.CPU >= 0 {
			w.CPU = max(0, w.CPU) + from.CPU
		}
		n.Self, from.Waiting, from.Blocked, from.CPU = 0, 0, 0, -1
	}
}
