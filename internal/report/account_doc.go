// Package account says what runs amount to, in words, signs and tables of words: a row of
// the debate, a series, the same rows on several backends, the locks compared. Whoever
// shows that, on a terminal or on a page, chooses how it looks; what it says is the same.
//
//	Signs(tally)                     // "V1✗ V2✗ V3✓(✗)"
//	Agree(topics, sides, reasons)    // the same rows on several backends
//
// It reads no file, runs nothing and knows neither terminals nor pages.
package report
