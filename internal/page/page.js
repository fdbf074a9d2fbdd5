  // Porcupine has drawn the operations and, below them, the marks. The following names the rows and
  // scrolls to the finding.
  const canvas = document.querySelector('#canvas')
  const picture = canvas.querySelector('svg')

  // The names of the rows stay in place while the drawing scrolls.
  const names = [...picture.querySelectorAll(':scope > g:first-child > text')]
  names.forEach((name, row) => { name.textContent = facts.names[row] ?? name.textContent })
  const margin = Math.max(0, ...names.map((name) => 4 - name.getBBox().x))
  picture.style.marginLeft = margin + 'px'
  const edge = Number(names[0].getAttribute('x')) + 8
  const board = svgadd(picture, 'g', {class: 'names'})
  svgadd(board, 'rect', {x: -margin, y: 0, width: edge + margin, height: picture.getAttribute('height')})
  board.append(...names)

  // A clipped text is shown in full if its box is wide enough.
  const marks = [...picture.querySelectorAll('.client-annotation-rect')]
  for (const [index, whole] of Object.entries(facts.texts)) {
    const text = marks[index].nextSibling
    const clipped = text.textContent
    text.textContent = whole
    if (text.getComputedTextLength() > marks[index].width.baseVal.value - 20) text.textContent = clipped
  }

  // The finding is visible at first, or at least its beginning.
  const look = marks[facts.look]
  if (look) {
    const left = look.x.baseVal.value - edge
    const width = look.width.baseVal.value
    const room = canvas.clientWidth - margin - edge
    const fits = width < room - 40
    if (fits ? left + width > room : left > room / 3) canvas.scrollLeft = left - (fits ? (room - width) / 2 : 120)
    const below = look.getBoundingClientRect().bottom - window.innerHeight
    if (below > 0) scrollTo({top: below + 40})
  }

  // Texts are centred in the visible part of their boxes.
  const boxes = [...picture.querySelectorAll('.history-rect, .client-annotation-rect')].map((rect) => {
    const text = rect.nextSibling
    return {text, left: rect.x.baseVal.value, width: rect.width.baseVal.value, half: text.getComputedTextLength() / 2 + 10}
  })
  function follow() {
    const left = canvas.scrollLeft
    board.setAttribute('transform', `translate(${left}, 0)`)
    for (const box of boxes) {
      const from = Math.max(box.left, left + edge)
      const to = Math.min(box.left + box.width, left + canvas.clientWidth - margin)
      const middle = Math.max((from + to) / 2, box.left + box.half)
      box.text.setAttribute('x', Math.min(middle, box.left + box.width - box.half))
    }
  }
  canvas.addEventListener('scroll', follow)
  addEventListener('resize', follow)
  follow()
