package checker

import (
	"fmt"
)

// This file says what a lock had to count on, and could not, when a property was
// violated. It is found from what the history tells: first from what became of
// the keys, where they are recorded, and else from the faults. What a fault was
// called is told, and never taken for a cause.

// broken ends a story with the assumption that was broken, and how that shows.
func broken(assumption, how string, args ...any) string {
	return fmt.Sprintf(". Broken assumption: %s (%s)", assumption, fmt.Sprintf(how, args...))
}

// unbroken ends a story in which no assumption is seen to be broken.
func unbroken(n *notes, format string, args ...any) string {
	what := fmt.Sprintf(format, args...)
	if n.none() {
		return ". No fault took place: " + what
	}
	return ". No assumption is seen to be broken: " + what
}

// The assumptions of a lock on keys.
const (
	keepsOrStaysAway = "a node that comes back keeps its keys, or stays away for the longest TTL"
	keepsUntilExpiry = "a node keeps a key until it expires"
	keepsWhatItSaid  = "a node keeps what it has acknowledged"
	holderCounts     = "the clock that a lock reads counts all the time that passes"
	oneMaster        = "a node has one master, and one key under a name"
	clocksAgree      = "keys live for as long as their holder counts"
	arrivesOnce      = "a request comes to its node once"
	onlyHolder       = "nobody but the holder touches its key"
	lookAndSet       = "nothing comes between looking for a key and setting one"
	stopsInTime      = "a holder stops working when its validity is over"
	refusesLate      = "the resource refuses who comes late"
	letsGoLast       = "a holder's writes have arrived when it lets go"
	releases         = "a holder lives until it releases"
	keysExpire       = "keys that nobody deletes expire"
	delaysDiffer     = "clients that collide wait for different times before they try again"
	keepersReached   = "a majority of the nodes that keep the lock's keys is in reach"
	storeAgrees      = "the store keeps an entry for as long as its holder counts"
	storeKeeps       = "the store keeps what it has acknowledged"
)
