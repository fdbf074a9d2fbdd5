package scenarios

// contention is what clients do to each other: split votes, long holds, holders
// that die.
var contention = []Scenario{}

// contentionSeries is the series about contention.
var contentionSeries []Series
