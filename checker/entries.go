package checker

import "github.com/lockstorm/lockstorm/history"

// stored is what is known of the entry that a hold has in a store.
type stored struct {
	there   bool // as of the last event about it
	claimed bool // the same when release was called
	deleted bool // by the client, or by whom is not known, since then
}

// entrySet, entryDeleted and entriesSeen follow the entries in a store.
func (l *state) entrySet(f *fact, _ bool) bool {
	f.about = l.resource(f.Resource)
	for _, h := range f.about.holds {
		if h.token == f.Token {
			h.keys.entry.there = true
		}
	}
	return true
}

func (l *state) entryDeleted(f *fact, _ bool) bool {
	f.about = l.resource(f.Resource)
	for _, h := range f.about.holds {
		if h.token != f.Token {
			continue
		}
		h.keys.entry.there = false
		if h.letGo && (f.Client == 0 || f.Client == h.client.number) {
			h.keys.entry.deleted = true
		}
	}
	return true
}

func (l *state) entriesSeen(f *fact, _ bool) bool {
	l.seen = max(l.seen, f.Sent)
	return true
}

// undisturbed reports whether nothing was in the client's way to the store since an instant: no
// link was down, no node was, and the leader has not changed. With a node down the store may be
// well; but the client may have been connected to that one.
func (l *state) undisturbed(c *client, then history.Time) bool {
	if c.cut != 0 || l.down != 0 || l.leaderless || l.led > then {
		return false
	}
	for _, at := range []map[int]history.Time{c.mended, l.started} {
		for _, t := range at {
			if t >= then {
				return false
			}
		}
	}
	return true
}

// storedTruth judges what a release says of the hold's entry in a store:
//   - that the lock was held: then a client has deleted the entry before the return;
//   - that it was not: then the holder's own request has not deleted an entry that was there
//     when it called release. This is judged only if the history says who deletes entries.
//
// And nobody deletes the entry of a hold that goes on and that its holder has not released.
//
// If a watch reports the changes, a claim is judged when all changes before it are recorded. A
// claim is not judged if the store's leader changes before: a replica may never have had the
// change.
type storedTruth struct {
	contract *contract
	claims   []entryClaim

	judged   int
	unjudged int
}

// entryClaim is what a release returned.
type entryClaim struct {
	told    Statement
	where   Place
	token   string
	deleted bool // the entry, before the return or since
}

func (s *storedTruth) wants() kinds {
	return kindSet(history.EntryDeleted, history.EntriesSeen, history.Leader)
}

// released notes the return of a release.
func (s *storedTruth) released(f *fact) {
	h := f.hold
	if h == nil {
		return
	}
	told := Statement{Detail: "release", Client: h.client.number, Token: h.token, Call: f.call.at, At: f.Time}
	watched := s.contract.header.Watched
	switch e := &h.keys.entry; {
	case f.Outcome == history.OK && (watched || !e.deleted):
		told.Kind = Unbacked
		s.claims = append(s.claims, entryClaim{told: told, where: h.place(f.call.at, f.Time), token: h.token, deleted: e.deleted})
	case f.Outcome == history.Declined && !watched && e.claimed && e.deleted:
		told.Kind = ReleaseDenied
		s.contract.violate(h.place(f.call.at, f.Time), told)
	}
	if !watched {
		s.judged++
	}
}

func (s *storedTruth) observe(f *fact) {
	switch f.Kind {
	case history.EntryDeleted:
		for i := range s.claims {
			if c := &s.claims[i]; c.token == f.Token && c.where.Resource == f.Resource {
				c.deleted = true
			}
		}
		s.deleted(f)
	case history.EntriesSeen:
		s.judge(f.Since, f.Sent)
	case history.Leader:
		if s.contract.header.Watched {
			s.unjudged += len(s.claims)
			s.claims = s.claims[:0]
		}
	}
}

// settle judges the claims of an instant, if changes are recorded when they take place.
func (s *storedTruth) settle() {
	if !s.contract.header.Watched {
		s.judge(0, forever)
	}
}

// judge judges the claims of releases between two instants: all changes between them are recorded.
func (s *storedTruth) judge(from, seen history.Time) {
	s.claims = without(s.claims, func(c *entryClaim) bool {
		switch {
		case c.told.At >= seen:
			return false
		case c.told.Call < from:
			s.unjudged++
			return true
		}
		if !c.deleted {
			s.contract.violate(c.where, c.told)
		}
		if s.contract.header.Watched {
			s.judged++
		}
		return true
	})
}

// deleted reports the deletion of an entry whose hold goes on. A watch reports it late: it took
// place after what was seen before.
func (s *storedTruth) deleted(f *fact) {
	for _, h := range f.about.holds {
		if h.token != f.Token || h.letGo || !h.returned || h.granted >= f.Time || h.windows[leaseRule].over ||
			s.contract.header.Watched && s.contract.state.seen <= h.granted {
			continue
		}
		s.contract.violate(h.place(h.granted, f.Time),
			Statement{Kind: KeyDeleted, Token: h.token, At: f.Time, Other: f.Client, Client: h.client.number, From: h.granted})
	}
}

// note says what was not judged, or nothing.
func (s *storedTruth) note() []Statement {
	if s.judged > 0 || s.unjudged+len(s.claims) == 0 {
		return nil
	}
	return []Statement{{Kind: TruthNotJudged, Detail: string(EntriesUnseen)}}
}
