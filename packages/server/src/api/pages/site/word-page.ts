// The page of the words that statuses, explanations and responses contain: phases, reasons, refusals, warnings.

import {
  ALTERATION_TEXTS,
  NODE_STATUS_TEXTS,
  PHASE_TEXTS,
  QUOTA_TEXTS,
  REASON_TEXTS,
  REFUSAL_TEXTS,
  REPLICA_STATE_TEXTS,
  WARNING_TEXTS,
  type WordText,
  type WordTexts,
} from '@holdfast/contract'
import { type Html, html, list, nextStep, withCode } from './html.ts'
import type { SitePage } from './layout.ts'
import type { SearchEntry } from './search.ts'

interface WordGroup {
  readonly id: string
  readonly title: string
  readonly kind: string
  readonly about: string
  readonly words: WordTexts
}

const GROUPS: readonly WordGroup[] = [
  {
    id: 'phase',
    title: 'Phases of a deployment',
    kind: 'Phase',
    about: 'The phase in the status of a deployment.',
    words: PHASE_TEXTS,
  },
  {
    id: 'reason',
    title: 'Reasons',
    kind: 'Reason',
    about: 'The reason of a phase or of a replica.',
    words: REASON_TEXTS,
  },
  {
    id: 'refusal',
    title: 'Refusals of nodes',
    kind: 'Refusal',
    about: 'Why a node does not accept a replica, as `GET /api/v1/deployments/{name}/why` lists it.',
    words: REFUSAL_TEXTS,
  },
  {
    id: 'state',
    title: 'States of a replica',
    kind: 'State of a replica',
    about: 'The state of one container.',
    words: REPLICA_STATE_TEXTS,
  },
  {
    id: 'status',
    title: 'Statuses of a node',
    kind: 'Status of a node',
    about: 'Whether the agent of a node reports.',
    words: NODE_STATUS_TEXTS,
  },
  {
    id: 'warning',
    title: 'Warnings',
    kind: 'Warning',
    about: 'The warnings of an accepted request.',
    words: WARNING_TEXTS,
  },
  {
    id: 'alteration',
    title: 'Alterations',
    kind: 'Alteration',
    about: 'The changes that the server made to a request and lists in its response.',
    words: ALTERATION_TEXTS,
  },
  {
    id: 'quota',
    title: 'Quotas',
    kind: 'Quota',
    about: 'The amounts that a tenant may use.',
    words: QUOTA_TEXTS,
  },
]

export const wordPage = (): SitePage => ({
  title: 'Words',
  body: html`<h1>Words</h1>
<p>The words that Holdfast prints and returns, and what to do about each.</p>
${list(GROUPS.map(({ id, title }) => html`<a href="/docs/words#${id}">${title}</a>`))}
${GROUPS.map(
  ({ id, title, about, words }) => html`<h2 id="${id}">${title}</h2><p>${withCode(about)}</p>
${Object.entries(words).map(([word, text]) => wordEntry(`${id}.${word}`, word, text))}`,
)}`,
})

const wordEntry = (id: string, word: string, { meaning, next }: WordText): Html =>
  html`<div class="entry"><h3 id="${id}"><code>${word}</code></h3><p>${withCode(meaning)}</p>
${nextStep(next)}</div>`

export const wordEntries = (): SearchEntry[] =>
  GROUPS.flatMap(({ id, kind, words }) =>
    Object.entries(words).map(([word, { meaning }]) => ({
      name: word,
      kind,
      text: meaning,
      href: `/docs/words#${id}.${word}`,
    })),
  )
