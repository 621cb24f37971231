// The page of event types: when each is emitted and what its data holds.

import { EVENT_DESCRIPTIONS, EVENT_TYPES, type EventDescription, type EventType } from '@holdfast/contract'
import { code, type Html, html, joined, nextStep, withCode } from './html.ts'
import type { SitePage } from './layout.ts'
import type { SearchEntry } from './search.ts'

const described = (): [EventType, EventDescription][] =>
  EVENT_TYPES.flatMap((type) => {
    const description = EVENT_DESCRIPTIONS[type]
    return description === null ? [] : [[type, description]]
  })

export function eventPage(): SitePage {
  const reserved = EVENT_TYPES.filter((type) => EVENT_DESCRIPTIONS[type] === null)
  return {
    title: 'Events',
    body: html`<h1>Events</h1>
<p>Read events with <a href="/docs/api/listEvents"><code>GET /api/v1/events</code></a>, follow them with <a href="/docs/api/followEvents"><code>GET /api/v1/events/stream</code></a> or <code>holdfast events --watch</code>. The <a href="/docs/schemas/Event">schema</a> is the same for all types; <code>data</code> depends on the type.</p>
${described().map(eventEntry)}
<h2>Reserved types</h2>
<p>This version never emits ${joined(reserved.map(code), ', ')}.</p>`,
  }
}

const eventEntry = ([type, { when, next, severity, subjects, data }]: [EventType, EventDescription]): Html =>
  html`<section class="entry"><h2 id="${type}"><code>${type}</code></h2>
<p>Emitted when ${withCode(when)}.</p>${nextStep(next)}
<dl><dt>Severity</dt><dd>${severity.join(', ')}</dd><dt>Subject</dt><dd>${subjects.join(', ')}</dd>${Object.entries(
    data,
  ).map(
    ([name, about]) => html`<dt><code>data.${name}</code></dt><dd>${withCode(about)}</dd>`,
  )}</dl></section>`

export const eventEntries = (): SearchEntry[] =>
  described().map(([type, { when }]) => ({
    name: type,
    kind: 'Event',
    text: `Emitted when ${when}`,
    href: `/docs/events#${type}`,
  }))
