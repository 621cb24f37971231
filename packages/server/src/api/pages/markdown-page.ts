// Renders the Markdown subset of the reference pages as HTML: headings, paragraphs, lists, tables, code, links, bold. All
// text is escaped first, so that a page cannot run scripts.

const ESCAPES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}
const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? character)

export function markdownToHtml(markdown: string): string {
  return splitBlocks(markdown).map(renderBlock).join('\n')
}

/** Splits a page into blocks, which are separated by empty lines, except inside a code fence. */
function splitBlocks(markdown: string): string[][] {
  const blocks: string[][] = [[]]
  let fenced = false
  for (const line of markdown.split('\n')) {
    if (line.startsWith('```')) fenced = !fenced
    if (line === '' && !fenced) blocks.push([])
    else blocks.at(-1)?.push(line)
  }
  return blocks.filter((block) => block.length > 0)
}

function renderBlock(lines: readonly string[]): string {
  const [first = ''] = lines
  const heading = /^(#{1,3}) (.*)$/.exec(first)
  if (heading !== null)
    return [
      `<h${heading[1]?.length}>${inline(heading[2] ?? '')}</h${heading[1]?.length}>`,
      ...following(lines),
    ].join('\n')
  if (first.startsWith('```')) return `<pre><code>${escapeHtml(lines.slice(1, -1).join('\n'))}</code></pre>`
  if (first.startsWith('- '))
    return `<ul>${listItems(lines)
      .map((item) => `<li>${inline(item)}</li>`)
      .join('')}</ul>`
  if (first.startsWith('|')) return renderTable(lines)
  return `<p>${inline(lines.join(' '))}</p>`
}

function following(lines: readonly string[]): string[] {
  return lines.length > 1 ? [renderBlock(lines.slice(1))] : []
}

function listItems(lines: readonly string[]): string[] {
  const items: string[] = []
  for (const line of lines) {
    if (line.startsWith('- ')) items.push(line.slice(2))
    else items.push(`${items.pop() ?? ''} ${line.trim()}`)
  }
  return items
}

function renderTable(lines: readonly string[]): string {
  const rows = lines
    .filter((line) => !/^\|[\s|:-]+\|$/.test(line))
    .map((line) => line.slice(1, -1).split(/(?<!\\)\|/))
  const row = (cells: readonly string[]) =>
    `<tr>${cells.map((cell) => `<td>${inline(cell.trim().replaceAll('\\|', '|'))}</td>`).join('')}</tr>`
  return `<table>${rows.map(row).join('')}</table>`
}

function inline(text: string): string {
  return escapeHtml(text)
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>')
    .replaceAll(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
    .replaceAll(/\[([^[\]]+)\]\((\/[A-Za-z0-9_./-]*)\)/g, '<a href="$2">$1</a>')
}

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#1b1f24}code{background:#f2f4f6;padding:.1em .3em;border-radius:4px}pre{background:#f2f4f6;padding:1rem;overflow:auto}table{border-collapse:collapse}td{border:1px solid #d5dae0;padding:.3rem .6rem;vertical-align:top}a{color:#0b57d0}@media(prefers-color-scheme:dark){body{background:#14171a;color:#e6e8ea}code,pre{background:#22272c}td{border-color:#3a4148}a{color:#8ab4f8}}'

export function htmlDocument(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"><title>${escapeHtml(title)}</title><style>${STYLE}</style></head><body>${body}<p><a href="/docs">All codes</a></p></body></html>`
}
