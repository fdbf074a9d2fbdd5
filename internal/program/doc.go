// Package program runs a program in any language as the lock of one client. The program is a
// process of its own. It reads lines of JSON from its standard input and answers on its standard
// output: see [ToProgram] and [FromProgram]. docs/other-languages.md describes the protocol.
package program
