// Phrases that readers outside of this project do not understand or would never search for, and the check that finds them in
// comments, texts, names and prose.
//
// Print the violations of a folder or file:  node tests/unit/texts/dialect.ts packages/agent
// As a test, for a folder:                   DIALECT_PATH=packages/agent npx vitest run --project unit tests/unit/plain-english.test.ts

import { argv, stdout } from 'node:process'
import { isBelow, repositoryFiles } from './repository-files.ts'
import { type Piece, textPieces, wordsOf } from './text-pieces.ts'

interface Phrase {
  readonly pattern: RegExp
  /** A suggestion of words to use instead of the phrase. */
  readonly instead: string
}

const phrase = (source: string, instead: string): Phrase => ({
  pattern: new RegExp(`\\b(?:${source.replaceAll(' ', '\\s+')})\\b`, 'gi'),
  instead,
})

/** Phrases that are rejected in comments, texts and prose. A space matches any white space. */
const PHRASES: readonly Phrase[] = [
  phrase('who(?:so)?ever|whomever', 'the caller, any client, the process that'),
  phrase('anew', 'again; recreate, rebuild, rerun'),
  phrase('wish(?:es|ed|ing)?', 'desired, desired state'),
  phrase('told', 'reported, sent, announced, published; "told apart": distinguished'),
  phrase('tells? of|tells? that', 'reports'),
  phrase('said(?! to)', 'reported, returned, stated'),
  phrase('(?:is|are|was|were) said to', 'is reported as'),
  phrase('says? so', 'reports it'),
  phrase('any more', 'no longer'),
  phrase('to be had', 'available'),
  phrase('go(?:es|ing)? on|went on|gone on', 'continues, resumes, retries'),
  phrase('nobody|anybody|somebody|everybody', 'no client, any replica, the operator, all callers'),
  phrase(
    'stands? (?:in the way|there|here|so|where|beside|apart|among|at|on|under|as)',
    'is, is stored, is listed',
  ),
  phrase('by itself|by themselves', 'automatically, on its own, alone'),
  phrase('meanwhile', 'until then, in the meantime, while ...'),
  phrase('of (?:ours|theirs)', 'our, their'),
  phrase('ma(?:d|k)e(?:s)? way|making way', 'stop first, free the node'),
  phrase('g(?:i|a)ve(?:s|n)? up|giving up', 'release, declare failed, abandon, stop trying'),
  phrase('give(?:s|n)? back|gave back|giving back', 'release, return'),
  phrase('ta(?:ke|kes|ken|king) back|took back', 'roll back, abort, revert'),
  phrase('taken up (?:again|where)', 'resumed'),
  phrase('in earnest', 'for real'),
  phrase('in the same breath', 'in the same transaction'),
  phrase('looked at again|an?other look|a look at|(?:is|are|be) looked at', 'checked, reconciled, requeued'),
  phrase(
    '(?:is|are|was|were|be|been) (?:not |never )?heard(?: of)?',
    'received, connected, sent no heartbeat',
  ),
  phrase('sees? to(?: it)?(?= that|,|\\.| the| each)', 'ensures'),
  phrase('the way of', 'how ... works; path'),
  phrase('(?:its|their) kin', 'similar ones, neighbors'),
  phrase('lead files?', 'upstream file'),
  phrase('led to (?:no more|it)', 'routed to'),
  phrase('keeps? away from', 'anti-affinity'),
  phrase('unspeakable', 'must not be printed'),
  phrase('enrol|enrols|enrolment|enrolments', 'enroll, enrollment'),
  { pattern: /\bno more(?=[.,;:)])/g, instead: 'no longer' },
  { pattern: /\bcounts? no more\b|\bwhat counts\b/gi, instead: 'is valid, is used' },
]

/** Words that are rejected in names. */
const NAME_WORDS: ReadonlySet<string> = new Set(
  `
    told tell tells telling said says wish wished wishes anew whoever nobody stance foresee foresees
    foreseen foresight farewell doom doomed enrol enrols enrolment beats meanwhile unspeakable setback
    setbacks sighting sightings hark heed
  `
    .trim()
    .split(/\s+/),
)

/** Old names that are rejected, as whole identifiers or file names. */
const OLD_NAMES: ReadonlySet<string> = new Set(
  `
    insist growingRest Setbacks SilenceBoard silence-index judgeSilence LogShelf ReplicaBoard DueLooks
    takeUpOwn burnNumber makeWay passOver spareServing NodeStance stanceOf storeAway isSound inTheOpen
    UnspeakableAnswerError opening-pace real-world lead-files
  `
    .trim()
    .split(/\s+/),
)

export interface DialectFound {
  readonly path: string
  readonly line: number
  readonly found: string
  readonly instead: string
}

export function findDialect(path: string, content: string): DialectFound[] {
  const pieces = [...textPieces(path, content), fileName(path)]
  return pieces.flatMap((piece) => inPiece(piece).map((found) => ({ path, ...found })))
}

const fileName = (path: string): Piece => ({
  kind: 'name',
  text: path.split('/').at(-1)?.replace(/\..*$/, '') ?? '',
  line: 1,
})

type Found = Omit<DialectFound, 'path'>

function inPiece(piece: Piece): Found[] {
  if (piece.kind === 'name') return inName(piece)
  return [...inPhrases(piece), ...openings(piece)]
}

function inName({ text, line }: Piece): Found[] {
  const word = wordsOf(text).find((each) => NAME_WORDS.has(each))
  if (word !== undefined) return [{ line, found: `${text} (${word})`, instead: 'a name with the usual word' }]
  return OLD_NAMES.has(text) ? [{ line, found: text, instead: 'the new name' }] : []
}

/** Blanks the paths in a text, because file names are checked separately. */
const withoutPaths = (text: string): string =>
  text.replace(/[\w.@-]*\/[\w./-]+/g, (path) => path.replace(/./g, '_'))

function inPhrases(piece: Piece): Found[] {
  const text = withoutPaths(piece.text)
  return PHRASES.flatMap(({ pattern, instead }) =>
    [...text.matchAll(pattern)].map((match) => ({
      line: lineOf(piece, match.index),
      found: match[0].replace(/\s+/g, ' '),
      instead,
    })),
  )
}

const OPENING = /(?:^|[.;:?!]\s+|\n[ \t]*\n[ \t]*)((?:What|Who|Whoever|Whatever)\s[^.?!]*[.?!]?)/g

/** Finds sentences that begin with a clause as subject. Questions, headings and table cells are not checked. */
function openings(piece: Piece): Found[] {
  if (piece.kind === 'text') return []
  const text = piece.kind === 'prose' ? blankStructures(piece.text) : piece.text
  return [...text.matchAll(OPENING)].flatMap((match) => {
    const sentence = match[1] ?? ''
    if (sentence.endsWith('?')) return []
    const line = lineOf(piece, match.index + match[0].indexOf(sentence))
    return [{ line, found: sentence.replace(/\s+/g, ' ').slice(0, 60), instead: 'begin with the subject' }]
  })
}

/** Replaces headings, tables and code blocks of Markdown by blanks and keeps the line breaks. */
const blankStructures = (text: string): string =>
  text.replace(/^```[\s\S]*?^```|^#.*$|^\s*\|.*$/gm, (found) => found.replace(/[^\n]/g, ' '))

const lineOf = ({ text, line }: Piece, index: number): number =>
  line + text.slice(0, index).split('\n').length - 1

export const showDialect = ({ path, line, found, instead }: DialectFound): string =>
  `${path}:${line} "${found}" -> ${instead}`

/** Files that quote the rejected phrases, or contain text from outside. */
export const NOT_CHECKED = [
  'tests/unit/texts/dialect.ts',
  'tests/unit/plain-english.test.ts',
  'tests/unit/citations.test.ts',
  'LICENSE',
]

export function checkFolder(folder: string): DialectFound[] {
  return [...repositoryFiles()]
    .filter(([path]) => isBelow(path, folder) && !NOT_CHECKED.includes(path))
    .flatMap(([path, content]) => findDialect(path, content))
}

if (import.meta.main) {
  const found = argv.slice(2).flatMap((folder) => checkFolder(folder.replace(/\/$/, '')))
  stdout.write(`${found.map((each) => `${showDialect(each)}\n`).join('')}${found.length} found\n`)
}
