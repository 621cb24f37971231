// docs/reference/events.md: every event type, when it is emitted and which fields it has.

import {
  describeShape,
  EVENT_DESCRIPTIONS,
  EVENT_TYPES,
  eventShape,
  listedEventShape,
  type ShapeNode,
} from '@holdfast/contract'
import { code, page, table } from './page.ts'

export function renderEvents(): string {
  const emitted = EVENT_TYPES.filter((type) => EVENT_DESCRIPTIONS[type] !== null)
  const reserved = EVENT_TYPES.filter((type) => EVENT_DESCRIPTIONS[type] === null)
  return page('Events', [
    'Events record what happened in a tenant. Read them with `GET /api/v1/events`, follow them with `GET /api/v1/events/stream` or `holdfast events`. How they are stored and delivered is described in [docs/design/events.md](../design/events.md).',
    '## Fields of every event',
    table(['Field', 'Type', 'Meaning'], fieldRows()),
    '## Event types',
    table(
      ['Type', 'Emitted when'],
      emitted.map((type) => [code(type), EVENT_DESCRIPTIONS[type]?.when ?? '']),
    ),
    ...emitted.flatMap(typeBlocks),
    '## Reserved types',
    `These types are accepted as a filter and are not emitted yet: ${reserved.map(code).join(', ')}.`,
  ])
}

function fieldRows(): string[][] {
  const listed = Object.keys(listedEventShape.fields).filter(
    (name) => !Object.hasOwn(eventShape.fields, name),
  )
  return Object.entries<ShapeNode>(listedEventShape.fields).flatMap(([name, shape]) => [
    fieldRow(name, shape, listed.includes(name)),
    ...(shape.kind === 'object' ? Object.entries(shape.fields) : []).map(([inner, each]) =>
      fieldRow(`${name}.${inner}`, each, false),
    ),
  ])
}

function fieldRow(name: string, shape: ShapeNode, onlyListed: boolean): string[] {
  const meaning = shape.description ?? ''
  const type = name === 'type' ? 'one of the types below' : describeShape(shape)
  return [code(name), type, onlyListed ? `${meaning}. Only in lists.` : meaning]
}

function typeBlocks(type: (typeof EVENT_TYPES)[number]): string[] {
  const description = EVENT_DESCRIPTIONS[type]
  if (description === null) return []
  const { when, next, severity, subjects, data } = description
  const members = Object.entries(data).map(([member, meaning]) => [code(member), meaning])
  const about = `Emitted when ${when}. Severity: ${severity.join(' or ')}. Subject: ${subjects.join(' or ')}.`
  return [
    `### ${type}`,
    next === undefined ? about : `${about} ${next}`,
    members.length === 0 ? 'Its `data` is empty.' : table(['Member of `data`', 'Meaning'], members),
  ]
}
