// Package plots draws the results of a sweep as SVG and PNG: [Curves] with their intervals and
// formulas, a [HeatMap] over two parameters, the Pareto [Front] of settings. [Save] writes a
// picture, and [Of] returns the pictures of a sweep.
//
// A chart consists of numbers and texts, and knows nothing of sweeps, runs, or files. The same
// chart always gives the same bytes. The colours suit colour-blind readers (Okabe and Ito for
// curves, which also differ in marker and dashes; viridis for maps), and no text covers data.
//
// It is an error if a chart cannot be drawn truthfully: a value that is not a number, a zero
// on a logarithmic axis, an interval that does not contain its point, a character that the
// font lacks, a legend that leaves no room.
//
// It draws on gonum's canvases (plot/vg) and not with plot and plotter: these have no legend
// outside the data, no wrapped title, no labels that avoid each other, no mark for a missing
// cell. They would replace about 230 lines of ticks, axes and cells with about 120, and add
// 5 MB (eleven more fonts, PDF, EPS and TeX output) to the command.
package plots
