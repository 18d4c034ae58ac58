package export

// paths numbers ways down from a root: each is a frame below another path, -1 being above all.
type paths struct {
	list  []path
	index map[path]int32
}

type path struct{ parent, frame int32 }

func newPaths() *paths { return &paths{index: map[path]int32{}} }

func (p *paths) below(parent, frame int32) int32 {
	key := path{parent, frame}
	if k, ok := p.index[key]; ok {
		return k
	}
	k := int32(len(p.list))
	p.index[key] = k
	p.list = append(p.list, key)
	return k
}
