// Texts of the overview, and of what happened.

import { formatCount } from '../format.ts'

export const overviewTexts = {
  overview: {
    well: 'All well',
    wellNext: 'Nothing needs you. This page changes as soon as something does.',
    needYou: (count: number) => (count === 1 ? '1 needs you' : `${count} need you`),
    needing: 'What needs you, the worst first',
    more: (count: number) => `${formatCount(count, 'more item')} of lower weight`,
    state: 'State',
    deployments: (count: number) => formatCount(count, 'deployment'),
    nodes: (count: number) => formatCount(count, 'node'),
    volumes: (count: number) => formatCount(count, 'volume'),
    jobs: (count: number) => formatCount(count, 'job'),
    cordoned: (count: number) => `${count} cordoned`,
    quotas: 'Quotas',
    used: (used: string, limit: string) => `${used} of ${limit}`,
    rotations: 'Rotations in progress',
    recent: 'Latest events',
    noEvents: 'No event yet.',
    review: 'Review',
    reviewOf: (name: string) => `Review ${name}`,
    cure: 'Remedy:',
    severities: { error: 'Problem', warning: 'Warning', info: 'Note' },
    noNodesTitle: 'This tenant has no node yet',
    noNodesNext: 'Create a join token, and run the printed command on a machine:',
    nodeCommands: ['holdfast node join-token NAME'],
    emptyTitle: 'This tenant has no deployment yet',
    emptyNext: 'Write a manifest, look at its plan, and apply it:',
    firstCommands: [
      'holdfast init web',
      'holdfast apply -f web.yaml --dry-run',
      'holdfast apply -f web.yaml',
    ],
  },

  timeline: {
    subject: 'Name of a deployment or node',
    at: 'Until a time: 14:05, or 2h',
    now: 'up to now, the newest first',
    until: (time: string) => `until ${time}, the newest first`,
    older: 'Show older entries',
    none: 'Nothing happened in this time.',
    onBehalf: 'acting in this tenant',
    machine: 'A joining machine',
    reads: 'Also reads and sign-ins',
  },

  events: {
    timeline: 'Timeline of this deployment',
    order: 'the newest first',
    none: 'No event is stored for this deployment.',
    times: (count: number) => `${count} times`,
  },
} as const
