package dense

import "math"

// Nearly is the share above which a method says nothing about where the time went, in percent.
const Nearly = 98

// Top is how many of the biggest methods are compared.
const Top = 12

// Comparison is how a recording differs from JFR, in one kind of time. All shares are in percent, and all differences
// in points of percent.
type Comparison struct {
	// Kind is the kind of time.
	Kind Kind
	// Biggest has the biggest methods of JFR, without those that have nearly all the time on both sides.
	Biggest []Method
	// Rest is the mean absolute difference of Biggest.
	Rest float64
	// Noise is the same as Rest for two runs of JFR: of one from the other.
	Noise float64
	// First is the recording's biggest method without those of nearly all, FirstOfJFR that of JFR.
	First, FirstOfJFR Method
	// FirstShare is the recording's share of First, FirstInJFR JFR's share of First, BestInJFR that of FirstOfJFR.
	FirstShare, FirstInJFR, BestInJFR float64
	// Doubt is by how much JFR's two shares may differ for JFR itself: three standard errors of its samples, and what
	// its runs differ in these two methods.
	Doubt float64
	// Chance is the mean difference of Biggest that the numbers of samples explain, ours and JFR's. ChanceOfFirst is three
	// standard errors of the difference of First and FirstOfJFR, for ours.
	Chance, ChanceOfFirst float64
}

// Behind returns by how much the recording's biggest method is smaller than the biggest one, both as JFR has them.
func (c *Comparison) Behind() float64 { return c.BestInJFR - c.FirstInJFR }

// Right reports whether the first place is right, as far as JFR knows it.
func (c *Comparison) Right() bool { return c.First != "" && c.Behind() <= c.Doubt }

// Compare compares a recording with so many steady samples with two runs of JFR.
func Compare(k Kind, ours *Profile, samples int, jfr [2]*Profile) *Comparison {
	both := newProfile(ours.traced)
	both.Add(jfr[0])
	both.Add(jfr[1])
	rest := func(m Method) bool { return both.Share(k, m) < Nearly || ours.Share(k, m) < Nearly }
	c := &Comparison{Kind: k, Biggest: both.Biggest(k, Top, rest)}
	c.Rest = difference(k, ours, both, c.Biggest)
	c.Noise = difference(k, jfr[0], jfr[1], c.Biggest)
	for _, m := range c.Biggest {
		const meanOfNormal = 0.798 // the mean of absolute values, in standard deviations
		p := both.Share(k, m) / 100
		c.Chance += meanOfNormal * 100 * math.Sqrt(p*(1-p)*(1/max(both.Total, 1)+1/float64(max(samples, 1)))) /
			float64(len(c.Biggest))
	}
	if own := ours.Biggest(k, 1, rest); len(own) > 0 && len(c.Biggest) > 0 {
		c.First, c.FirstOfJFR = own[0], c.Biggest[0]
		c.FirstShare = ours.Share(k, c.First)
		c.FirstInJFR, c.BestInJFR = both.Share(k, c.First), both.Share(k, c.FirstOfJFR)
		c.Doubt = max(math.Abs(jfr[0].Share(k, c.First)-jfr[1].Share(k, c.First)),
			math.Abs(jfr[0].Share(k, c.FirstOfJFR)-jfr[1].Share(k, c.FirstOfJFR)))
		p, q := c.FirstInJFR/100, c.BestInJFR/100
		error := 3 * 100 * math.Sqrt(p+q-(p-q)*(p-q))
		c.Doubt += error / math.Sqrt(max(both.Total, 1))
		c.ChanceOfFirst = error / math.Sqrt(float64(max(samples, 1)))
	}
	return c
}

// difference returns the mean absolute difference of the shares of the methods.
func difference(k Kind, p, q *Profile, list []Method) float64 {
	sum := 0.0
	for _, m := range list {
		sum += math.Abs(p.Share(k, m) - q.Share(k, m))
	}
	return sum / float64(max(1, len(list)))
}

// Bounds returns how many of JFR's biggest methods have a share that is an estimate, and how many of these estimates
// have the share of JFR inside their bounds, which those of JFR itself widen.
func Bounds(k Kind, ours *Profile, jfr [2]*Profile) (checked, held int) {
	both := newProfile(ours.traced)
	both.Add(jfr[0])
	both.Add(jfr[1])
	for _, m := range both.Biggest(k, Top, func(Method) bool { return true }) {
		low, high := ours.Bounds(k, m)
		if low == high {
			continue
		}
		checked++
		p := both.Share(k, m)
		doubt := 2*100*math.Sqrt(p/100*(1-p/100)/max(both.Total, 1)) + math.Abs(jfr[0].Share(k, m)-jfr[1].Share(k, m))
		if low-doubt <= p && p <= high+doubt {
			held++
		}
	}
	return checked, held
}
