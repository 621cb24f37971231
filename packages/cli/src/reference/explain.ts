// The offline reference of `holdfast explain`: fields of manifests and other bodies, rejection codes, and the words of
// words.ts. A word with several meanings is explained once for each.

import {
  CODES,
  type Code,
  entryOf,
  isCode,
  type Json,
  jsonText,
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
import { plainForm, WORD_GROUPS, type WordGroup } from './words.ts'

const MANIFEST = describeManifest()
const FIELDS = flattenFields(MANIFEST)
const BODIES = describeBodies()

export type Explained =
  | { readonly found: true; readonly lines: readonly string[] }
  | { readonly found: false; readonly nearest: readonly string[] }

/** Explains a word. If it is unknown, returns the most similar names. */
export function explainWord(word: string, area: PrintArea): Explained {
  const path = pathOf(word)
  const pages = [
    ...FIELDS.filter((field) => isAbout(field, path)).map((field) => fieldLines(field, area)),
    ...quantityLines(path, area),
    ...BODIES.flatMap((body) => bodyPages(body, word, area)),
    ...(isCode(word) ? [codeLines(word, area)] : []),
    ...WORD_GROUPS.flatMap((group) => wordLines(group, word, area)),
    ...(word === 'codes' ? [listLines('Rejection codes', codeRows(), area)] : []),
  ]
  if (pages.length > 0)
    return { found: true, lines: pages.flatMap((page, at) => (at === 0 ? page : ['', ...page])) }
  return explainPart(word, area)
}

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
  const nearest = nearestName(word, allWords())
  const isOtherCase = nearest !== undefined && nearest.toLowerCase() === word.toLowerCase()
  if (isOtherCase) return explainWord(nearest, area)
  return { found: false, nearest: nearest === undefined ? [] : [nearest] }
}

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
    ...wrapWords(
      'The fields of a deployment. holdfast explain FIELD explains one, for example healthCheck.command.',
      area.columns,
    ),
    '',
    ...alignRows(
      MANIFEST.flatMap((field) => treeRows(field)),
      area.columns,
    ),
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

function treeRows(field: DescribedField, depth = 0): string[][] {
  const { path, type, required } = field
  const name = `${'  '.repeat(depth)}${path.split('.').at(-1)}`
  return [
    [name, required ? `${type}, required` : type],
    ...field.fields.flatMap((inner) => treeRows(inner, depth + 1)),
  ]
}

function fieldLines(field: DescribedField, area: PrintArea): string[] {
  const { path, type, meaning, range, rejections } = field
  const inner = { ...area, columns: area.columns - 2 }
  return [
    paint(path, 'bold', area.colored),
    ...indent(wrapWords(meaning, inner.columns)),
    '',
    ...factLines([['Type', type], absence(field), ['Accepted', plainForm(range)]], area),
    ...section('Example', field.example === null ? [] : exampleText(field).split('\n'), area),
    ...section('Fields', alignRows(innerRows(field), inner.columns), area),
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

/** Explains a quantity, such as `resources.cpu`, which only manifest files have. */
function quantityLines(path: string, area: PrintArea): string[][] {
  return QUANTITY_FIELDS.filter(({ name }) =>
    QUANTITY_BLOCKS.some((block) => path === `${block}.${name}`),
  ).map(({ sentAs, meaning, accepted, examples }) => [
    paint(path, 'bold', area.colored),
    ...indent(wrapWords(meaning, area.columns - 2)),
    '',
    ...factLines(
      [
        ['Accepted', accepted],
        ['Examples', examples.join(', ')],
        ['Sent as', path.replace(/[^.]+$/, sentAs)],
      ],
      area,
    ),
  ])
}

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
  if (word === name)
    return [
      listLines(
        about,
        Object.entries(words).map(([each, text]) => [each, firstSentence(text)]),
        area,
      ),
    ]
  const text = Object.hasOwn(words, word) ? words[word] : undefined
  if (text === undefined) return []
  const { meaning, next, data = [] } = text
  const paragraphs = next === undefined ? [meaning] : [meaning, `What to do: ${plainForm(next)}`]
  return [
    [
      `${paint(word, 'bold', area.colored)} (${kind})`,
      ...paragraphs.flatMap((each) => indent(wrapWords(each, area.columns - 2))),
      ...section('Data', alignRows(data, area.columns - 2), area),
    ],
  ]
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
