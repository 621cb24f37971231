// Renders the Markdown of the error catalogue as HTML: paragraphs, lists, tables, code, links, bold. All text is escaped
// first, so that a page cannot run scripts.

import { escapeHtml } from './site/html.ts'

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
