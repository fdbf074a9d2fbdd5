package scenarios

// remarks are what a reader of the debate should know of a row or a series beside
// what is measured: above all why a verdict is not the one that was predicted. By
// name.
var remarks = map[string]string{
	"slow-acquire":       "Only the replies that come too late are slow here. What Kleppmann asks about is a delay after the check: that is pause-then-write.",
	"crash-restart":      "The partition keeps the holder at exactly a quorum. With all five nodes held, one that forgets is not enough: the four others still refuse.",
	"clock-drift":        "The allowance has to cover both clocks. With nodes fast by ρn and the holder slow by ρc it must be at least TTL × (ρn + ρc)/(1 + ρn), up to the latency: 1 % of the TTL does not cover 1 % on both sides.",
	"fence-from-redlock": "Of the three ways to make fences out of Redis this is the third: read a quorum, raise a quorum to the largest plus one, and only then check the validity once more.",
	"watchdog-cut-off":   "That the holder hears of the loss in time is the margin's work; a holder that looks at no clock would go on (pause-then-write).",
}

// Remark returns the remark on a row or a series, or "".
func Remark(name string) string { return remarks[name] }
