// Texts of charts and usage.

export const chartTexts = {
  usage: 'Usage',
  lastHour: 'the last hour',
  used: 'used',
  requested: 'requested',
  processor: 'Processor',
  cpu: 'CPU',
  memory: 'Memory',
  noSample: 'no sample',
  summary: (title: string, last: string, highest: string) =>
    `${title} in the last hour: now ${last}, at most ${highest}`,
  asTable: (title: string) => `${title} as a table`,
  time: 'Time',
  unreachable: (names: readonly string[]) =>
    `The usage of ${names.join(', ')} is unknown: no server could be asked for it.`,
} as const
