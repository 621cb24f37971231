// Draws a captured terminal screen as a picture, cell by cell, in the sixteen colors of the CLI on a dark background.

interface Style {
  readonly color: string
  readonly bold: boolean
}

interface Run extends Style {
  readonly text: string
  readonly column: number
}

const GROUND = '#16181d'
const BAR = '#23262d'
const PLAIN: Style = { color: '#d6d9de', bold: false }
const COLORS: { readonly [code: number]: string } = {
  31: '#ff7b72',
  32: '#7ee787',
  33: '#e3b341',
  34: '#79c0ff',
  36: '#76e3ea',
  90: '#8b949e',
  39: PLAIN.color,
}
const CELL = { width: 8.43, height: 18 }
const EDGE = 16
const BAR_HEIGHT = 30
const ESCAPE = '\u001b'
/** Control characters in a tmux capture that switch the character set and are not drawn. */
const SHIFTS = '\u000e\u000f'
/** Escape sequences that set a style. All other sequences in a tmux capture switch the character set. */
const SEQUENCE = new RegExp(`${ESCAPE}\\[([\\d;]*)m|${ESCAPE}[()][A-Z0-9]|[${SHIFTS}]`, 'g')

export function screenToSvg(title: string, captured: string, columns: number): string {
  const lines = captured.replace(/\s+$/, '').split('\n')
  const width = Math.ceil(columns * CELL.width + 2 * EDGE)
  const height = lines.length * CELL.height + BAR_HEIGHT + 2 * EDGE
  let style = PLAIN
  const rows = lines.map((line, row) => {
    const cut = runsOf(line, style)
    style = cut.style
    return cut.runs.map((run) => textOf(run, row)).join('')
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" rx="8" fill="${GROUND}"/>`,
    `<path d="M0 ${BAR_HEIGHT}V8a8 8 0 0 1 8-8H${width - 8}a8 8 0 0 1 8 8V${BAR_HEIGHT}Z" fill="${BAR}"/>`,
    `<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" xml:space="preserve">`,
    `<text x="${EDGE}" y="20" fill="#8b949e">${escaped(title)}</text>`,
    ...rows.filter((row) => row !== ''),
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}

function runsOf(line: string, before: Style): { readonly runs: readonly Run[]; readonly style: Style } {
  const runs: Run[] = []
  let style = before
  let column = 0
  let from = 0
  const put = (text: string): void => {
    if (text.trim() !== '') runs.push({ ...style, text, column })
    column += text.length
  }
  for (const match of line.matchAll(SEQUENCE)) {
    put(line.slice(from, match.index))
    from = match.index + match[0].length
    if (match[1] !== undefined) style = styleAfter(style, match[1])
  }
  put(line.slice(from))
  return { runs, style }
}

const styleAfter = (before: Style, codes: string): Style =>
  codes.split(';').reduce<Style>((style, text) => {
    const code = Number(text)
    if (code === 0) return PLAIN
    if (code === 1) return { ...style, bold: true }
    const color = COLORS[code]
    return color === undefined ? style : { ...style, color }
  }, before)

/** Draws text stretched to the width of its cells, so that columns are aligned in any font. */
function textOf({ text, column, color, bold }: Run, row: number): string {
  const indent = text.length - text.trimStart().length
  const shown = text.trim()
  const x = (EDGE + (column + indent) * CELL.width).toFixed(1)
  const y = BAR_HEIGHT + EDGE + row * CELL.height + 13
  const length = (shown.length * CELL.width).toFixed(1)
  const weight = bold ? ' font-weight="bold"' : ''
  return `<text x="${x}" y="${y}" textLength="${length}" fill="${color}"${weight}>${escaped(shown)}</text>`
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
