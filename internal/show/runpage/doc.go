// Package runpage shows one run as blocks of a page: what happened in a sentence, the timeline, the
// messages, the verdicts and the setting.
//
//	shown, err := runpage.Replayed(ctx, simulator, scenario, seed, "lockstorm run crash-restart")
//	messages, err := shown.Messages(simulator)
//	blocks, err := shown.Blocks("", messages...)
package runpage
