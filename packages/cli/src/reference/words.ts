// All words that `holdfast explain` knows besides fields and rejection codes, in groups. A group can be explained by its
// name, which lists its words.

import {
  ALTERATION_TEXTS,
  defined,
  EVENT_DESCRIPTIONS,
  type EventDescription,
  NODE_STATUS_TEXTS,
  PHASE_TEXTS,
  QUOTA_TEXTS,
  REASON_TEXTS,
  REFUSAL_TEXTS,
  REPLICA_STATE_TEXTS,
  ROLE_TEXTS,
  WARNING_TEXTS,
  type WordText,
} from '@holdfast/contract'
import { EXIT, EXIT_MEANINGS } from '../exit-codes.ts'
import { VOLUME_PHASE_TEXTS, VOLUME_REASON_TEXTS } from './volume-words.ts'

export interface Word extends WordText {
  /** The members of the data of an event, each with its meaning. */
  readonly data?: readonly (readonly [member: string, meaning: string])[]
}
type Words = { readonly [word: string]: Word }

export interface WordGroup {
  /** The name by which the group can be explained. */
  readonly name: string
  /** The kind of one word of the group, for its heading. */
  readonly kind: string
  readonly about: string
  readonly words: Words
}

export const WORD_GROUPS: readonly WordGroup[] = [
  { name: 'phases', kind: 'phase', about: 'The phases of a deployment.', words: PHASE_TEXTS },
  {
    name: 'reasons',
    kind: 'reason',
    about: 'The reasons of a phase or of a replica, shown in parentheses.',
    words: REASON_TEXTS,
  },
  {
    name: 'volume-phases',
    kind: 'phase of a volume',
    about: 'The phases of a volume.',
    words: VOLUME_PHASE_TEXTS,
  },
  {
    name: 'volume-reasons',
    kind: 'reason of a volume',
    about: 'The reasons of the phase of a volume, shown in parentheses.',
    words: VOLUME_REASON_TEXTS,
  },
  {
    name: 'refusals',
    kind: 'refusal of a node',
    about: 'The reasons for which a node refuses a replica, as holdfast why lists them.',
    words: REFUSAL_TEXTS,
  },
  {
    name: 'states',
    kind: 'state of a replica',
    about: 'The states of a replica.',
    words: REPLICA_STATE_TEXTS,
  },
  { name: 'statuses', kind: 'status of a node', about: 'The statuses of a node.', words: NODE_STATUS_TEXTS },
  { name: 'events', kind: 'event', about: 'The types of events.', words: eventWords() },
  { name: 'roles', kind: 'role', about: 'The roles of a token.', words: ROLE_TEXTS },
  { name: 'quotas', kind: 'quota', about: 'The quotas of a tenant.', words: QUOTA_TEXTS },
  {
    name: 'warnings',
    kind: 'warning',
    about: 'The warnings of an accepted request.',
    words: WARNING_TEXTS,
  },
  {
    name: 'alterations',
    kind: 'alteration',
    about: 'The changes that the server made to a request.',
    words: ALTERATION_TEXTS,
  },
  { name: 'exit-codes', kind: 'exit code', about: 'The exit codes of holdfast.', words: exitCodes() },
]

/** The event types that are emitted; reserved types are left out. */
function eventWords(): Words {
  return Object.fromEntries(
    Object.entries(EVENT_DESCRIPTIONS).flatMap(([type, described]) =>
      described === null ? [] : [[type, eventWord(described)]],
    ),
  )
}

function eventWord({ when, next, severity, data }: EventDescription): Word {
  const meaning = plainForm(`Emitted when ${when}. Severity: ${severity.join(' or ')}.`)
  return {
    meaning,
    ...defined({ next }),
    data: Object.entries(data).map(([member, about]) => [member, plainForm(about)]),
  }
}

/** Removes Markdown and writes `<name>` as NAME, because a terminal shows neither as intended. */
export function plainForm(text: string): string {
  return text
    .replaceAll('[<i>]', '[]')
    .replaceAll(/<([A-Za-z][\w-]*)>/g, (_, name: string) => name.toUpperCase())
    .replaceAll('**', '')
    .replaceAll('`', '')
}

function exitCodes(): Words {
  const meanings = new Map(Object.entries(EXIT_MEANINGS))
  return Object.fromEntries(
    Object.entries(EXIT).map(([name, code]) => {
      const meaning = meanings.get(name) ?? ''
      return [String(code), { meaning: `${meaning.slice(0, 1).toUpperCase()}${meaning.slice(1)}.` }]
    }),
  )
}
