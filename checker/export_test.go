package checker

// Places is how many holds the panel has had to remember at one time, at most.
func (p *Panel) Places() int { return p.ledger.places }
