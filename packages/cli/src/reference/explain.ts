// The offline reference of `holdfast explain`: fields of manifests and other bodies, rejection codes, and the words of
// words.ts. A word with several meanings is explained once for each.

import {
  CODES,
  type Code,
  entryOf,
  isCode,
  type Json,
  jsonText,
  NO_PHASE_TEXTS,
  nearestName,
  stepsOf,
} from '@holdfast/contract'
import {
  DEFAULT_LIMITS,
  type DescribedBody,
  type DescribedField,
  describeBodies,
  describeCode,
  describeManifest,
  flattenFields,
} from '@holdfast/core/admission'
import { QUANTITY_BLOCKS, QUANTITY_FIELDS } from '@holdfast/manifest'
import type { PrintArea } from '../print/area.ts'
import { paint } from '../print/color.ts'
import { wrapWords } from '../print/fit.ts'
import { factLines, indent, section } from '../print/sections.ts'
import { alignRows } from '../print/table.ts'
import { exampleText } from './example.ts'
import { volumeFieldLines, volumeLines } from './explain-volume.ts'
import { plainForm, WORD_GROUPS, type WordGroup } from './words.ts'

const MANIFEST = describeManifest()
const FIELDS = flattenFields(MANIFEST)
const BODIES = describeBodies()
const EVENTS = WORD_GROUPS.filter(({ name }) => name === 'events')
const EVENT_NAMES = EVENTS.flatMap(({ words }) => Object.keys(words))

export type Explained =
  | { readonly found: true; readonly lines: readonly string[] }
  | { readonly found: false; readonly nearest: readonly string[] }

/** Explains a word. If it is unknown, returns the most similar names. */
export function explainWord(word: string, area: PrintArea): Explained {
  const path = pathOf(word)
  const pages = [
    ...(word.toLowerCase() === 'deployment' ? [treeLines(area)] : []),
    ...(word.toLowerCase() === 'volume' ? [volumeLines(area)] : []),
    ...volumeFieldLines(word, area),
    ...FIELDS.filter((field) => isAbout(field, path)).map((field) => fieldLines(field, area)),
    ...quantityLines(path, area),
    ...BODIES.flatMap((body) => bodyPages(body, word, area)),
    ...(isCode(word) ? [codeLines(word, area)] : []),
    ...wordPages('not a phase', NO_PHASE_TEXTS, word, area),
    ...WORD_GROUPS.flatMap((group) => wordLines(group, word, area)),
    ...(word === 'codes' ? [listLines('Rejection codes', codeRows(), area)] : []),
  ]
  return pages.length > 0 ? joinPages(pages) : explainPart(word, area)
}

const joinPages = (pages: readonly (readonly string[])[]): Explained => ({
  found: true,
  lines: pages.flatMap((page, at) => (at === 0 ? page : ['', ...page])),
})

/** Explains a request body, such as `token`, or a field of it, such as `token.role`. */
function bodyPages(
  { name, about, request, fields }: DescribedBody,
  word: string,
  area: PrintArea,
): string[][] {
  if (word === name)
    return [listLines(`${name} (request body): ${about} ${request}`, innerRows({ path: '', fields }), area)]
  const path = word.startsWith(`${name}.`) ? bare(word.slice(name.length + 1)) : undefined
  const found = flattenFields(fields).filter((field) => path !== undefined && isAbout(field, path))
  return found.map((field) => [`${name}: ${request}`, ...fieldLines(field, area)])
}

/** Explains the last name of a field, such as `anchor`, if only one field has it. Otherwise lists what is similar. */
function explainPart(word: string, area: PrintArea): Explained {
  const named = FIELDS.filter(({ path }) => path.split('.').at(-1)?.replace('[]', '') === word)
  const [only, ...others] = named
  if (only !== undefined && others.length === 0) return { found: true, lines: fieldLines(only, area) }
  if (only !== undefined) return { found: false, nearest: named.map(({ path }) => path) }
  const types = EVENT_NAMES.filter((type) => type.endsWith(`.${word}`))
  if (types.length > 0)
    return joinPages(types.flatMap((type) => EVENTS.flatMap((group) => wordLines(group, type, area))))
  const nearest = nearestName(word, allWords())
  const isOtherCase = nearest !== undefined && nearest.toLowerCase() === word.toLowerCase()
  if (isOtherCase) return explainWord(nearest, area)
  return { found: false, nearest: nearest === undefined ? wordsWith(word) : [nearest] }
}

const MOST_SUGGESTED = 5

/** The names of which the word is a part, such as tenant-admin for admin. */
const wordsWith = (word: string): string[] =>
  [...new Set(allWords())]
    .filter((name) => name.split(/[-_.]/).includes(word.toLowerCase()))
    .slice(0, MOST_SUGGESTED)

function allWords(): string[] {
  return [
    ...FIELDS.flatMap(({ path }) => [bare(path), path.split('.').at(-1) ?? '']),
    ...BODIES.flatMap(({ name, fields: inner }) => [
      name,
      ...flattenFields(inner).map(({ path }) => `${name}.${bare(path)}`),
    ]),
    ...WORD_GROUPS.flatMap(({ name, words }) => [name, ...Object.keys(words)]),
    ...CODES,
  ]
}

/** The tree of all fields, and the names of the other things that can be explained. */
export function explainAll(area: PrintArea): string[] {
  return [
    ...treeLines(area),
    ...section(
      'Bodies of other requests',
      alignRows(
        BODIES.map(({ name, about }) => [name, about]),
        area.columns - 2,
      ),
      area,
    ),
    ...section(
      'Also explained, each word and as a list',
      alignRows(
        [...WORD_GROUPS.map(({ name, about }) => [name, about]), ['codes', 'The codes of rejections.']],
        area.columns - 2,
      ),
      area,
    ),
  ]
}

const treeLines = (area: PrintArea): string[] => [
  ...wrapWords(
    'The fields of a deployment. holdfast explain FIELD explains one, for example healthCheck.command. holdfast explain Volume lists the fields of a volume.',
    area.columns,
  ),
  '',
  ...alignRows(
    MANIFEST.flatMap((field) => treeRows(field)),
    area.columns,
  ),
]

function treeRows(field: DescribedField, depth = 0): string[][] {
  const { path, type, required } = field
  const notes = [type, ...(required ? ['required'] : [])]
  const name = `${'  '.repeat(depth)}${path.split('.').at(-1)}`
  return [
    [name, notes.join(', ')],
    ...field.fields.flatMap((inner) => treeRows(inner, depth + 1)),
    ...quantitiesIn(path).map((each) => [
      `${'  '.repeat(depth + 1)}${each.name}`,
      `quantity such as ${each.examples[0]}`,
    ]),
  ]
}

const quantitiesIn = (path: string) =>
  QUANTITY_BLOCKS.some((block) => block === path) ? QUANTITY_FIELDS : []

function fieldLines(field: DescribedField, area: PrintArea): string[] {
  const { path, type, meaning, range, rejections } = field
  const inner = { ...area, columns: area.columns - 2 }
  return [
    paint(path, 'bold', area.colored),
    ...indent(wrapWords(meaning, inner.columns)),
    '',
    ...factLines([['Type', type], absence(field), ['Accepted', plainForm(range)]], area),
    ...section('Example', field.example === null ? [] : exampleText(field).split('\n'), area),
    ...section('Fields', alignRows([...innerRows(field), ...quantityRows(field)], inner.columns), area),
    ...section(
      'Rejection codes, each with the accepted form',
      alignRows(
        rejections.map(({ code, expected }) => [code, plainForm(expected)]),
        inner.columns,
      ),
      area,
    ),
  ]
}

/** Explains a quantity, such as `resources.cpu` or `cpu`, which only manifest files have. */
function quantityLines(word: string, area: PrintArea): string[][] {
  return QUANTITY_BLOCKS.flatMap((block) =>
    QUANTITY_FIELDS.filter(({ name }) => word === name || word === `${block}.${name}`).map(
      ({ name, sentAs, meaning, accepted, examples }) => [
        paint(`${block}.${name}`, 'bold', area.colored),
        ...indent(wrapWords(meaning, area.columns - 2)),
        '',
        ...factLines(
          [
            ['Accepted', accepted],
            ['Examples', examples.join(', ')],
            ['Sent as', `${block}.${sentAs}`],
          ],
          area,
        ),
      ],
    ),
  )
}

const quantityRows = ({ path }: DescribedField): string[][] =>
  quantitiesIn(path).map((each) => [each.name, firstSentence(each)])

/** The fields inside a field, each with the first sentence of its meaning. */
const innerRows = ({ path, fields }: Pick<DescribedField, 'path' | 'fields'>): string[][] =>
  flattenFields(fields).map((each) => [
    each.path.slice(path.length).replace(/^(\[\])?\./, ''),
    firstSentence(each),
  ])

function absence({ required, absent, default: value }: DescribedField): [string, string] {
  if (required) return ['Required', 'yes']
  return value === undefined ? ['If absent', absent ?? ''] : ['Default', spaced(value)]
}

function codeLines(code: Code, area: PrintArea): string[] {
  const { status, alternativeStatus, field, doc } = entryOf(code)
  const { expected, why } = describeCode(code, DEFAULT_LIMITS)
  const other =
    alternativeStatus === undefined ? '' : `; ${alternativeStatus.status} when ${alternativeStatus.when}`
  return [
    `${paint(code, 'bold', area.colored)} (rejection code)`,
    ...indent(wrapWords(plainForm(why), area.columns - 2)),
    '',
    ...factLines(
      [
        ['Field', plainForm(field.split(' | ').join(', '))],
        ['Accepted', plainForm(expected)],
        ['HTTP status', `${status}${other}`],
      ],
      area,
    ),
    ...plainForm(doc)
      .split('\n\n')
      .flatMap((paragraph) => ['', ...wrapWords(paragraph.replaceAll('\n', ' '), area.columns)]),
  ]
}

function wordLines(group: WordGroup, word: string, area: PrintArea): string[][] {
  const { name, kind, about, words } = group
  if (word.toLowerCase() === name)
    return [
      listLines(
        about,
        Object.entries(words).map(([each, text]) => [each, firstSentence(text)]),
        area,
      ),
    ]
  return wordPages(kind, words, word, area)
}

/** Explains a word in any letter case: Pending is a phase, and pending is a state. */
function wordPages(kind: string, words: WordGroup['words'], word: string, area: PrintArea): string[][] {
  const meant = Object.entries(words).filter(([each]) => each.toLowerCase() === word.toLowerCase())
  return meant.map(([each, { meaning, next, data = [] }]) => [
    `${paint(each, 'bold', area.colored)} (${kind})`,
    ...[meaning, ...(next === undefined ? [] : [`What to do: ${plainForm(next)}`])].flatMap((paragraph) =>
      indent(wrapWords(paragraph, area.columns - 2)),
    ),
    ...section('Data', alignRows(data, area.columns - 2), area),
  ])
}

const listLines = (about: string, rows: readonly (readonly string[])[], area: PrintArea): string[] => [
  ...wrapWords(about, area.columns),
  '',
  ...alignRows(rows, area.columns),
]

const codeRows = (): string[][] =>
  CODES.map((code) => [code, plainForm(describeCode(code, DEFAULT_LIMITS).why)])

/** A JSON value with spaces, at which a line can be wrapped. */
const spaced = (value: Json): string => jsonText(value).replaceAll(/([,:])(?=["[{\d])/g, '$1 ')

const firstSentence = ({ meaning }: { readonly meaning: string }): string =>
  /^.*?[.](?= |$)/.exec(meaning)?.[0] ?? meaning

/** Field paths without list marks, so that `secrets[0].name`, `secrets[].name` and `secrets.name` are the same. */
const bare = (path: string): string => path.replaceAll('[]', '')

/** Whether a path names the field or, in a map, one of its keys: `environment.LOG_LEVEL` is about `environment`. */
const isAbout = ({ path, type }: DescribedField, word: string): boolean =>
  bare(path) === word || (type.startsWith('map ') && word.startsWith(`${bare(path)}.`))

function pathOf(word: string): string {
  const steps = stepsOf(word.replace(/^deployment\./, '')).filter((step) => typeof step === 'string')
  return steps.join('.')
}
