// The search of the reference: one function ranks the entries, on the server for readers without JavaScript and in the
// browser while a reader types.

/** One thing that can be found: its name, what kind of thing it is, a sentence about it, and its address. */
export interface SearchEntry {
  readonly name: string
  readonly kind: string
  readonly text: string
  readonly href: string
  /** Other words for the thing, which readers type and its name and text lack. */
  readonly also?: string
}

const OTHER_WORDS: { readonly [name: string]: string } = {
  secrets: 'password credential token',
  composedEnvironment: 'password connection string',
  plaintext_credential_in_environment: 'password',
  'placement.affinity': 'machine host together',
  'placement.antiAffinity': 'machine host apart',
  'resources.cpuMillis': 'half a core',
  'limits.cpuMillis': 'half a core',
}

/** Adds the words that readers use for a thing to its entry. */
export function withOtherWords(entry: SearchEntry): SearchEntry {
  const also = Object.hasOwn(OTHER_WORDS, entry.name) ? OTHER_WORDS[entry.name] : undefined
  return also === undefined ? entry : { ...entry, also }
}

/**
 * The entries that contain every word of the query, best first: the name itself, its beginning, a part of it, the text.
 * If no entry contains every word, those with the most words of three letters or more.
 * The browser runs the source of this function, so it must not refer to anything outside itself.
 */
export function searchEntries(entries: readonly SearchEntry[], query: string): SearchEntry[] {
  const words = query.toLowerCase().slice(0, 100).split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  const whole = words.join(' ')
  const allOf = ({ name, kind, text, also = '' }: SearchEntry): string =>
    `${name} ${kind} ${text} ${also}`.toLowerCase()
  const rank = (entry: SearchEntry): number => {
    const lower = entry.name.toLowerCase()
    const all = allOf(entry)
    if (!words.every((word) => all.includes(word))) return 0
    if (lower === whole) return 4
    if (lower.startsWith(whole)) return 3
    const named = `${lower} ${entry.also ?? ''}`
    return words.every((word) => named.includes(word)) ? 2 : 1
  }
  /** The number of words found; a word of the name counts twice. */
  const rankByWords = (entry: SearchEntry): number => {
    const lower = entry.name.toLowerCase()
    const all = allOf(entry)
    const found = words.filter((word) => word.length >= 3 && all.includes(word))
    return found.length + found.filter((word) => lower.includes(word)).length
  }
  const best = (score: (entry: SearchEntry) => number): SearchEntry[] => {
    const ranked = entries.map((entry) => ({ entry, score: score(entry) })).filter((each) => each.score > 0)
    ranked.sort((one, other) => other.score - one.score)
    return ranked.slice(0, 50).map(({ entry }) => entry)
  }
  const found = best(rank)
  return found.length > 0 ? found : best(rankByWords)
}

/** Shows results below the search field while a reader types. Without it, the form leads to the page of results. */
export const SEARCH_SCRIPT = `'use strict'
${searchEntries.toString()}
const input = document.querySelector('#q')
const results = document.querySelector('#results')
let entries
const load = async () => { entries ??= await (await fetch('/docs/search.json')).json() }
const item = ({ name, kind, text, href }) => {
  const row = document.createElement('li')
  const target = document.createElement('a')
  target.href = href
  target.textContent = name
  const about = document.createElement('span')
  about.textContent = ' ' + kind + '. ' + text
  row.append(target, about)
  return row
}
const show = async () => {
  const query = input.value.trim()
  results.hidden = query === ''
  if (query === '') return
  await load()
  const found = searchEntries(entries, query).slice(0, 12)
  const count = document.createElement('p')
  count.textContent = found.length === 0 ? 'Nothing found.' : found.length === 12 ? 'The 12 best results; press Enter for more.' : found.length + (found.length === 1 ? ' result' : ' results')
  const list = document.createElement('ul')
  list.append(...found.map(item))
  results.replaceChildren(count, list)
}
input.addEventListener('focus', load, { once: true })
input.addEventListener('input', show)
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') { results.hidden = true }
  if (event.key === '/' && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) { event.preventDefault(); input.focus() }
})
`
