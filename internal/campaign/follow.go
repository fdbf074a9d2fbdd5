package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Progress is how far a campaign has come. It is not safe for concurrent use.
type Progress struct {
	Shards    int // of all builds
	Done      int
	Failures  int // attempts that failed
	Aside     []Aside
	Conflicts []Conflict
	Finds     []Find
	Took      time.Duration // of all shards that are done, together

	// Differing lists the shards for which different builds have found different results. It is
	// known at the end.
	Differing []int
}

// Find is what a shard has found.
type Find struct {
	Shard int
	Text  string
}

// Left returns how many shards are neither done nor set aside.
func (p Progress) Left() int { return p.Shards - p.Done - len(p.Aside) }

// follower reads what the servers store of a campaign.
type follower struct {
	campaign *Campaign
	builds   []Build // that take part
	progress Progress
	done     map[parsedKey]Record
	aside    map[parsedKey]bool
	suspects map[parsedKey]bool // were missing at the last audit; nil: there was none
}

func (c *Campaign) follower() *follower {
	return &follower{
		campaign: c, builds: c.Spec.Builds, progress: Progress{Shards: c.Spec.Shards * c.Spec.Want},
		done: map[parsedKey]Record{}, aside: map[parsedKey]bool{},
	}
}

// see takes note of a stored value. What nobody of ours writes is left out.
func (f *follower) see(e jetstream.KeyValueEntry) {
	k, ok := f.campaign.parseKey(e.Key())
	if !ok {
		return
	}
	p, put := &f.progress, e.Operation() == jetstream.KeyValuePut
	switch k.kind {
	case resultKey:
		if was, seen := f.done[k]; !put && seen { // it was lost
			delete(f.done, k)
			p.Done--
			p.Took -= was.Took
			return
		}
		r, err := decodeRecord(e.Value())
		if _, seen := f.done[k]; err != nil || seen || !put {
			return
		}
		f.done[k] = r
		p.Done++
		p.Took += r.Took
		if r.Find != "" {
			p.Finds = append(p.Finds, Find{k.shard, r.Find})
		}
		f.forget(k)
	case failureKey:
		if put {
			p.Failures++
		}
	case asideKey:
		f.forget(k)
		a, err := decodeAside(e)
		if err == nil && put {
			f.aside[k.of(resultKey)] = true
			p.Aside = append(p.Aside, a)
		}
	case conflictKey:
		first, known := f.done[k.of(resultKey)]
		if r, err := decodeRecord(e.Value()); err == nil && known && put {
			p.Conflicts = append(p.Conflicts, Conflict{Build: k.build, Shard: k.shard, First: first, Second: r})
		}
	}
}

// forget takes a shard out of those that were set aside: a late worker may have made it.
func (f *follower) forget(k parsedKey) {
	delete(f.aside, k.of(resultKey))
	f.progress.Aside = slices.DeleteFunc(f.progress.Aside, func(a Aside) bool { return a.Build == k.build && a.Shard == k.shard })
}

func (k parsedKey) of(kind string) parsedKey {
	k.kind = kind
	return k
}

// missing returns the shards of a build that are neither done nor set aside.
func (f *follower) missing(b Build) (list []int) {
	for shard := range f.campaign.Spec.Shards {
		k := parsedKey{resultKey, b.ID(), shard}
		if _, done := f.done[k]; !done && !f.aside[k] {
			list = append(list, shard)
		}
	}
	return list
}

// differing returns the shards for which the builds have found different results.
func (f *follower) differing() (list []int) {
	builds := f.builds
	for shard := range f.campaign.Spec.Shards {
		first, done := f.done[parsedKey{resultKey, builds[0].ID(), shard}]
		for _, b := range builds[1:] {
			other, also := f.done[parsedKey{resultKey, b.ID(), shard}]
			if done && also && first.Hash != other.Hash {
				list = append(list, shard)
				break
			}
		}
	}
	return list
}

// Progress returns how far the campaign has come.
func (c *Campaign) Progress(ctx context.Context) (Progress, error) {
	ctx, done := undated(ctx)
	defer done()
	f, err := c.read(ctx)
	f.progress.Differing = f.differing()
	return f.progress, err
}

// read reads what the servers have stored up to now.
func (c *Campaign) read(ctx context.Context) (*follower, error) {
	f := c.follower()
	watch, err := c.results.WatchAll(ctx)
	if err != nil {
		return f, err
	}
	defer func() { _ = watch.Stop() }() // nobody listens any more
	for {
		select {
		case e := <-watch.Updates():
			if e == nil {
				return f, nil
			}
			f.see(e)
		case <-ctx.Done():
			return f, ctx.Err()
		}
	}
}

// ErrForgotten says that the servers have lost the campaign as a whole, as those that were never asked to
// sync their disks do if all of them lose power. It has to be submitted again.
var ErrForgotten = errors.New("the servers have forgotten it")

// auditEvery is how often a follower looks whether the queues have all shards that are missing.
const auditEvery = 2 * time.Second

// Follow calls each with the progress of the campaign, until every shard is done or set aside. It
// returns an error if ctx ends, or if the campaign is stopped ([ErrStopped]), removed ([ErrNone]) or
// lost ([ErrForgotten]). It queues shards that are neither done nor in a queue: those of a new
// campaign, and those that the servers have lost.
func (c *Campaign) Follow(ctx context.Context, each func(Progress)) (Progress, error) {
	ctx, done := undated(ctx)
	defer done()
	for {
		p, err := c.follow(ctx, each)
		if !errors.Is(err, errStale) {
			return p, err
		}
	}
}

// errStale says that a watch has stopped to tell what is stored, as it can after a server has lost its
// disk.
var errStale = errors.New("the watch is stale")

// follow follows the campaign by one watch.
func (c *Campaign) follow(ctx context.Context, each func(Progress)) (Progress, error) {
	f := c.follower()
	watch, err := c.results.WatchAll(ctx)
	if err != nil {
		return f.progress, c.final(err)
	}
	defer func() { _ = watch.Stop() }() // nobody listens any more
	audit := time.NewTicker(auditEvery)
	defer audit.Stop()
	complete := false // all that was stored before has come
	for {
		select {
		case <-ctx.Done():
			return f.progress, ctx.Err()
		case e := <-watch.Updates():
			if e != nil {
				f.see(e)
				break
			}
			complete = true
			if err := c.final(f.audit(ctx)); err != nil {
				return f.progress, err
			}
		case <-audit.C:
			if err := c.final(f.audit(ctx)); isFinal(err) {
				return f.progress, err
			} // or a cluster elects a leader; the next audit follows soon
		}
		each(f.progress)
		if !complete || f.progress.Left() > 0 {
			continue
		}
		// Servers can lose what they have acknowledged. So look once more.
		now, err := f.look(ctx)
		if err != nil {
			return f.progress, c.final(err)
		}
		if f = now; f.progress.Left() == 0 {
			f.progress.Differing = f.differing()
			return f.progress, nil
		}
	}
}

// mostAsked is about how many shards are asked for by name.
const mostAsked = 100

// look reads the campaign anew, and asks for what is missing.
func (f *follower) look(ctx context.Context) (*follower, error) {
	now, err := f.campaign.read(ctx)
	if err == nil {
		now.builds = f.builds
		err = now.ask(ctx)
	}
	return now, err
}

// ask asks for missing shards by their names, which the leader answers. A watch is sent by any replica, and
// one that has lost its disk may never catch up.
func (f *follower) ask(ctx context.Context) error {
	for _, b := range f.builds {
		missing := f.missing(b)
		for _, shard := range missing[:min(len(missing), mostAsked)] {
			for _, kind := range []string{resultKey, asideKey} {
				e, err := f.campaign.results.Get(ctx, keyOf(kind, b, shard))
				if errors.Is(err, jetstream.ErrKeyNotFound) {
					continue
				}
				if err != nil {
					return err
				}
				f.see(e)
			}
		}
	}
	return nil
}

// final returns an error that says why a campaign cannot be followed, as [Campaign.Follow] describes it.
func (c *Campaign) final(err error) error {
	if gone(err) || errors.Is(err, errUnknown) {
		return fmt.Errorf("campaign %s: %w: %w", c.Spec.Name, ErrForgotten, err)
	}
	return err
}

// isFinal reports whether an error means that this watch, or the campaign, cannot be followed any more.
func isFinal(err error) bool {
	return errors.Is(err, errStale) || errors.Is(err, ErrForgotten) || errors.Is(err, ErrStopped) || errors.Is(err, ErrNone)
}

// audit queues the missing shards of a build whose queue is empty. But for the first time it queues
// only those that were missing at the last audit, too: the notes on others may be on their way.
func (f *follower) audit(ctx context.Context) error {
	en, err := f.campaign.engine.entry(ctx, f.campaign.Spec.Name)
	if err != nil {
		return err
	}
	if en.Stopped {
		return fmt.Errorf("campaign %s: %w", en.Spec.Name, ErrStopped)
	}
	f.builds = en.Spec.Builds // more may have joined
	before := f.suspects
	f.suspects = map[parsedKey]bool{}
	for _, b := range en.Spec.Builds {
		missing := f.missing(b)
		if len(missing) == 0 {
			continue
		}
		queue, err := f.campaign.consumer(ctx, b)
		if err != nil {
			return err
		}
		info, err := queue.Info(ctx)
		if err != nil {
			return err
		}
		if info.NumPending+uint64(info.NumAckPending) > 0 {
			continue
		}
		for _, shard := range missing {
			f.suspects[parsedKey{resultKey, b.ID(), shard}] = true
		}
		if before != nil {
			if now, err := f.look(ctx); err != nil || now.progress.Done > f.progress.Done {
				return cmp.Or(err, errStale)
			}
			missing = slices.DeleteFunc(missing, func(shard int) bool { return !before[parsedKey{resultKey, b.ID(), shard}] })
		}
		if err := f.campaign.queue(ctx, b, missing); err != nil {
			return err
		}
	}
	return nil
}
