package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
)

// Severity is what a finding means for a lock.
type Severity string

// The severities, the worst first.
const (
	Broken Severity = "broken" // an assumption of Redlock does not hold
	Unread Severity = "unread" // the server did not say
	Note   Severity = "note"   // worth knowing
	Fine   Severity = "fine"
)

// Severities lists them, the worst first.
var Severities = []Severity{Broken, Unread, Note, Fine}

// Finding is what a check found out about servers.
type Finding struct {
	Severity Severity `json:"severity"`
	Check    string   `json:"check"`
	Servers  []string `json:"servers"`           // their addresses
	Setting  string   `json:"setting,omitempty"` // as it was read
	Text     string   `json:"text"`

	// Assumption is the assumption that is broken, or may be; Row the scenario that shows how; Help
	// what to do. They are empty if nothing is wrong.
	Assumption checker.Assumption `json:"assumption,omitempty"`
	Row        string             `json:"row,omitempty"`
	Help       string             `json:"help,omitempty"`
}

// troubles lists what can be wrong: its severity and text, the broken assumption, the row that shows it,
// and what helps; "": what helps against the broken assumption in general.
var troubles = map[string]struct {
	severity   Severity
	text       string
	assumption checker.Assumption
	row, help  string
}{
	"evicts": {Broken, "The server can evict a lock's key before it expires, because the key has a TTL.",
		checker.KeepsUntilExpiry, "evicted-key", ""},
	"evicts all": {Broken, "The server can evict a lock's key before it expires, and counters of fences.",
		checker.KeepsUntilExpiry, "evicted-allkeys", ""},
	"would evict": {Note, "Nothing is evicted while maxmemory is 0. With a limit the policy takes a lock's key.",
		checker.KeepsUntilExpiry, "evicted-key", ""},

	"no persistence": {Broken, "A restart loses all keys. The lock is safe only if a restarted server stays away for the longest TTL, which cannot be read.",
		checker.KeepsOrStaysAway, "crash-restart", ""},
	"snapshots only": {Broken, "A restart loses the keys since the last snapshot, and can bring released ones back. The lock is safe only if a restarted server stays away for the longest TTL, which cannot be read.",
		checker.KeepsOrStaysAway, "rdb-restart", ""},
	"synced late": {Broken, "A power loss takes the last second of writes or more, even if they were acknowledged. The lock is safe only if a restarted server stays away for the longest TTL, which cannot be read.",
		checker.KeepsAcknowledged, "aof-everysec", ""},
	"restarted": {Note, "The server restarted within the last 10 minutes, and a restart can lose keys. The key of a lock that was granted before the restart, and whose TTL is not over, can be missing.",
		checker.KeepsOrStaysAway, "crash-restart", "Wait for the longest TTL after a restart before clients use the server."},

	"cluster": {Broken, "The server is a node of a Redis Cluster, which replaces a failed master by a replica that can lack acknowledged keys.",
		checker.KeepsAcknowledged, "failover", "Use independent servers without Cluster."},
	"sentinel": {Broken, "The address is a Sentinel. It keeps no keys, and replaces a failed master by a replica that can lack acknowledged keys.",
		checker.KeepsAcknowledged, "failover", "Name the masters, and keep locks on servers that no Sentinel watches."},
	"watched": {Broken, "A Sentinel watches the server, and replaces it by a replica that can lack acknowledged keys.",
		checker.KeepsAcknowledged, "failover", "Keep locks on servers that no Sentinel watches."},
	"replica": {Broken, "The server is a replica: it refuses the writes of a lock, and what it has can be older than what its master acknowledged.",
		checker.KeepsAcknowledged, "failover", "Name the master."},
	"replicated": {Note, "The server has replicas. If one is promoted, by hand or by an operator, it can lack acknowledged keys.",
		checker.KeepsAcknowledged, "failover", ""},
	"same server": {Broken, "The addresses lead to one server, which votes more than once: when it loses its keys, a majority can be lost.",
		checker.OneMaster, "crash-restart", "Name independent servers."},
	"same host": {Note, "The servers have one host. If that is one machine, a crash or a wrong clock of it takes all their votes at once.",
		checker.KeepersReached, "majority-crash", "Run each server on a machine of its own, in a zone of its own."},

	"clocks apart": {Note, "The wall clocks are apart. Keys live by them: if a clock is put right by a step, keys expire early or late.",
		checker.ClocksAgree, "node-clock-jump", "Keep clocks right with NTP, and let it slew, not step."},

	"lacks commands": {Broken, "The server does not have all commands of a lock.",
		checker.OnlyHolder, "duplicate-delete", "Allow them, or use another server: a release without a script or a conditional delete can delete another client's key."},
	"no rights": {Broken, "The user may not use all commands of a lock, so the server never votes for it.",
		checker.KeepersReached, "majority-partition", "Allow them: ACL SETUSER USER +hello +info +set +get +pttl +pexpire +del +eval +evalsha ~PREFIX*."},
	"refuses": {Broken, "A lock's commands failed on a key of its own, so the server never votes for it.",
		checker.KeepersReached, "majority-partition", "See the reply of the server."},
}

// trouble returns the finding of one of the troubles.
func trouble(name, setting string) Finding {
	t := troubles[name]
	_, _, remedy := t.assumption.Explain()
	return Finding{Severity: t.severity, Setting: setting, Text: t.text, Assumption: t.assumption, Row: t.row, Help: cmp.Or(t.help, remedy)}
}

func fine(setting, text string) Finding { return Finding{Severity: Fine, Setting: setting, Text: text} }

// cannotTell returns the finding of a check that lacks settings, which these commands read.
func (r *reading) cannotTell(settings string, commands ...string) Finding {
	why := "the server does not have it"
	for _, c := range commands {
		if text, is := r.unread[c]; is {
			why = c + ": " + text
		}
	}
	return Finding{Severity: Unread, Setting: settings, Text: "Not read: " + why, Help: "Run the check as a user with the right to " + strings.Join(commands, " and ") + "."}
}

// shown returns settings as text.
func (r *reading) shown(names ...string) string {
	var all []string
	for _, n := range names {
		value, is := r.settings[n]
		switch {
		case !is:
			value = "(not read)"
		case value == "":
			value = `""`
		}
		all = append(all, n+" "+value)
	}
	return strings.Join(all, ", ")
}

// merged joins findings that differ in the servers only, and sorts them, the worst first.
func merged(all []Finding) (list []Finding) {
	for _, f := range all {
		same := slices.IndexFunc(list, func(g Finding) bool {
			return f.Severity == g.Severity && f.Check == g.Check && f.Setting == g.Setting && f.Text == g.Text
		})
		if same < 0 {
			list = append(list, f)
			continue
		}
		list[same].Servers = append(list[same].Servers, f.Servers...)
	}
	slices.SortStableFunc(list, func(a, b Finding) int {
		return cmp.Compare(slices.Index(Severities, a.Severity), slices.Index(Severities, b.Severity))
	})
	return list
}

// milliseconds shows a duration that was measured.
func milliseconds(d Duration) string { return fmt.Sprintf("%.3g ms", float64(d)/1e6) }
