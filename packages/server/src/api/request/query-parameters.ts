// All query parameters of the API: accepted values and parsing. Unknown, repeated and invalid parameters are rejected,
// never ignored.

import {
  type Code,
  DEPLOYMENT_PHASES,
  durationMs,
  EVENT_TYPES,
  RECOMMENDATION_PRIORITIES,
  RECOMMENDATION_TYPES,
  type Rejection,
  SEVERITIES,
  SHOWN_NODE_STATUSES,
} from '@holdfast/contract'
import { reject, safeKey } from '@holdfast/core'

export interface ParsedQuery {
  readonly dryRun: boolean
  readonly force: boolean
  readonly limit: number
  readonly cursor?: string
  readonly after?: string
  readonly before?: string
  readonly type?: string
  /** The query parameter `type` of recommendations. */
  readonly recommendationType?: string
  readonly priority?: string
  readonly subject?: string
  readonly severity?: string
  /** The query parameter `at`: an RFC 3339 time. */
  readonly at?: string
  /** The query parameter `view`: how an explanation lists nodes. */
  readonly view?: string
  /** The query parameter `view` of lists: short items. */
  readonly listView?: string
  readonly q?: string
  readonly phase?: string
  /** The query parameter `phase` of nodes: their status. */
  readonly nodeStatus?: string
  readonly sort?: string
  /** The query parameter `sort` of audit entries. */
  readonly auditSort?: string
  /** The query parameter `until`: an RFC 3339 time, or a duration before now. */
  readonly until?: string
  readonly follow: boolean
  readonly tail: number
  /** The query parameter `since`: an RFC 3339 time, or a duration before now. */
  readonly since?: string
  readonly replica?: number
  readonly canary: boolean
  /** The query parameter `node`: the name or id of a node. */
  readonly node?: string
  readonly previous: boolean
  readonly ticket?: string
}
export type QueryName = keyof ParsedQuery

interface QueryParameter {
  /** The name in the query, if it differs from the key. */
  readonly name?: string
  /** The code that rejects an unknown value, if the parameter has one of its own. */
  readonly code?: Code
  readonly expected: string
  readonly schema: { readonly [keyword: string]: string | number | string[] }
  /** Parses the text of a query parameter; returns undefined if the text is not accepted. */
  read(text: string): string | number | boolean | undefined
}

const MAX_TEXT = 512
const MAX_FIELD = 128
const text = (expected: string): QueryParameter => ({
  expected,
  schema: { type: 'string' },
  read: (sent) => (sent !== '' && sent.length <= MAX_TEXT ? sent : undefined),
})
const choice = (values: readonly string[]): QueryParameter => ({
  expected: `one of ${values.join(', ')}`,
  schema: { type: 'string', enum: [...values] },
  read: (sent) => (values.includes(sent) ? sent : undefined),
})

const flag: QueryParameter = {
  expected: 'true or false',
  schema: { type: 'boolean' },
  read: (sent) => (sent === 'true' ? true : sent === 'false' ? false : undefined),
}

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/

const isTime = (sent: string): boolean => TIME.test(sent) && !Number.isNaN(Date.parse(sent))

const MAX_TAIL = 10_000

export const QUERY_PARAMETERS: { readonly [name in QueryName]: QueryParameter } = {
  dryRun: flag,
  force: flag,
  limit: {
    expected: 'a whole number from 1 to 500',
    schema: { type: 'integer', minimum: 1, maximum: 500, default: 100 },
    read: (sent) => (/^[1-9]\d{0,2}$/.test(sent) && Number(sent) <= 500 ? Number(sent) : undefined),
  },
  cursor: text('the nextCursor of an earlier response'),
  after: text('the cursor of an event'),
  before: text('the cursor of an event, or the earlierCursor of an earlier response'),
  type: choice(EVENT_TYPES),
  recommendationType: {
    ...choice(RECOMMENDATION_TYPES),
    name: 'type',
    code: 'dvm_recommendation_unknown_type',
  },
  priority: { ...choice(RECOMMENDATION_PRIORITIES), code: 'dvm_recommendation_unknown_priority' },
  subject: text("the name or uid of the event's subject"),
  severity: choice(SEVERITIES),
  at: {
    expected: 'a time such as 2026-01-31T12:00:00Z',
    schema: { type: 'string', format: 'date-time' },
    read: (sent) => (isTime(sent) ? sent : undefined),
  },
  view: choice(['candidates', 'groups']),
  listView: { ...choice(['summary']), name: 'view' },
  q: text('a part of the name'),
  phase: choice(DEPLOYMENT_PHASES),
  nodeStatus: { ...choice(SHOWN_NODE_STATUSES), name: 'phase' },
  sort: choice(['name', 'worst', 'newest']),
  auditSort: { ...choice(['newest', 'oldest']), name: 'sort' },
  until: {
    expected: 'a time such as 2026-01-31T12:00:00Z, or a duration before now, such as 90s or 2h',
    schema: { type: 'string' },
    read: (sent) => (isTime(sent) || durationMs(sent) !== undefined ? sent : undefined),
  },
  follow: flag,
  canary: flag,
  previous: flag,
  tail: {
    expected: `a whole number from 0 to ${MAX_TAIL}`,
    schema: { type: 'integer', minimum: 0, maximum: MAX_TAIL, default: 100 },
    read: (sent) =>
      /^(?:0|[1-9]\d{0,4})$/.test(sent) && Number(sent) <= MAX_TAIL ? Number(sent) : undefined,
  },
  since: {
    expected: 'a time such as 2026-01-31T12:00:00Z, or a duration before now, such as 90s or 2h',
    schema: { type: 'string' },
    read: (sent) => (isTime(sent) || durationMs(sent) !== undefined ? sent : undefined),
  },
  replica: {
    expected: 'the number of a replica, from 1',
    schema: { type: 'integer', minimum: 1 },
    read: (sent) => (/^[1-9]\d{0,5}$/.test(sent) ? Number(sent) : undefined),
  },
  node: text('the name or id of a node'),
  ticket: {
    expected: 'the ticket from the response',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{43}$' },
    read: (sent) => (/^[A-Za-z0-9_-]{43}$/.test(sent) ? sent : undefined),
  },
}

/** The name of a parameter as it is sent. */
export const sentName = (name: QueryName): string => QUERY_PARAMETERS[name].name ?? name

const DEFAULTS: ParsedQuery = {
  dryRun: false,
  force: false,
  limit: 100,
  follow: false,
  canary: false,
  previous: false,
  tail: 100,
}

export type QueryOutcome =
  | { readonly ok: true; readonly query: ParsedQuery }
  | { readonly ok: false; readonly rejections: Rejection[] }

export function readQuery(raw: string, allowed: readonly QueryName[]): QueryOutcome {
  if (raw === '') return { ok: true, query: DEFAULTS }
  const sent = new URLSearchParams(raw)
  const query: { [name: string]: string | number | boolean } = {}
  for (const name of new Set(sent.keys())) {
    const known = allowed.find((each) => sentName(each) === name)
    if (known === undefined)
      return refuse('query_parameter_unknown', name, sent.get(name), acceptedNames(allowed))
    const values = sent.getAll(name)
    const { read, expected, code = 'query_parameter_invalid' } = QUERY_PARAMETERS[known]
    const value = values.length === 1 ? read(values[0] ?? '') : undefined
    if (value === undefined) return refuse(code, name, values.join(', '), expected)
    query[known] = value
  }
  return { ok: true, query: { ...DEFAULTS, ...query } }
}

function acceptedNames(allowed: readonly QueryName[]): string {
  return allowed.length === 0 ? 'no query parameter' : `one of ${allowed.map(sentName).join(', ')}`
}

function refuse(code: Code, name: string, received: string | null, accepted: string): QueryOutcome {
  const field = safeKey(name).slice(0, MAX_FIELD) || 'query'
  return { ok: false, rejections: [reject(code, field, received ?? '', { accepted })] }
}
