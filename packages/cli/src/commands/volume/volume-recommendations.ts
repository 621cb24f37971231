// `holdfast volume recommendations`: lists what should be changed at the volumes of the tenant, and applies one of them.

import { readAll } from '@holdfast/client'
import {
  defined,
  RECOMMENDATION_PRIORITIES,
  RECOMMENDATION_TYPES,
  type Recommendation,
} from '@holdfast/contract'
import type { OnlineCommand, OptionSpec } from '../../command.ts'
import { DRY_RUN_OPTION, printPlanned } from '../../dry-run.ts'
import { EXIT } from '../../exit-codes.ts'
import { memory } from '../../print/amounts.ts'
import { count } from '../../print/count.ts'
import { printFailure } from '../../print/failure.ts'
import { OUTPUT_OPTION, type Printed, printItems } from '../../print/output.ts'
import { followVolume, VOLUME_OUTPUT } from '../../volume-command.ts'
import { waitOptions } from '../apply.ts'

const FILTERS: readonly OptionSpec[] = [
  { flags: '--type <type>', summary: 'list only this type', choices: RECOMMENDATION_TYPES },
  { flags: '--priority <priority>', summary: 'list only this priority', choices: RECOMMENDATION_PRIORITIES },
]

const changeText = ({ parameters }: Pick<Recommendation, 'parameters'>): string =>
  parameters.action === 'resize'
    ? `resize to ${memory(parameters.target_size_bytes ?? 0)}`
    : `replicas to ${parameters.target_replicas ?? 0}`

const recommendations: Printed<Recommendation> = {
  kind: 'recommendation',
  nameOf: ({ id }) => id,
  columns: [
    { header: 'ID', value: ({ id }) => id },
    {
      header: 'PRIORITY',
      value: ({ priority }) => priority,
      tint: ({ priority }) => (priority === 'critical' ? 'red' : priority === 'high' ? 'yellow' : undefined),
    },
    { header: 'VOLUME', value: ({ volume_name }) => volume_name },
    { header: 'TYPE', drop: 2, value: ({ type }) => type },
    { header: 'CHANGE', value: changeText },
    { header: 'APPLICABLE', drop: 1, value: ({ applicable }) => (applicable ? 'yes' : 'no') },
    { header: 'WHY', value: ({ why }) => why },
  ],
}

export const volumeRecommendations: OnlineCommand = {
  name: 'volume recommendations',
  summary: 'list what should be changed at the volumes of the tenant',
  details:
    'Recommendations are computed from the current state at each call. One disappears when its condition no longer holds.',
  options: [...FILTERS, OUTPUT_OPTION],
  examples: [
    ['holdfast volume recommendations', 'Lists all recommendations, the most urgent first.'],
    ['holdfast volume recommendations --priority critical', 'Lists those that should not wait.'],
  ],
  online: true,
  async run({ terminal, text }, client) {
    const [type, priority] = [text('type'), text('priority')]
    const filter = defined({ type, priority })
    const found = await readAll((page) => client.volumes.recommendations.list({ ...page, ...filter }))
    if (!found.ok) return printFailure(terminal, found.failure)
    await printItems(terminal, text('output'), recommendations, found.value)
    return EXIT.ok
  },
}

export const volumeRecommendationsApply: OnlineCommand = {
  name: 'volume recommendations apply',
  summary: 'apply a recommendation to its volume',
  args: [{ name: 'id', summary: 'id of the recommendation' }],
  options: [DRY_RUN_OPTION, ...waitOptions('the volume is Ready'), VOLUME_OUTPUT],
  examples: [
    [
      'holdfast volume recommendations apply rec_5f0c2a9be1d34c77a1b2c3d4e5 --dry-run',
      'Shows what would change.',
    ],
  ],
  online: true,
  async run(invocation, client) {
    const { terminal, args, flag } = invocation
    const id = (args[0] ?? '').replace(/^recommendations?\//, '')
    if (flag('dry-run'))
      return printPlanned(terminal, id, 'applied', await client.volumes.recommendations.planApply(id))
    const applied = await client.volumes.recommendations.apply(id)
    if (!applied.ok) return printFailure(terminal, applied.failure)
    const { replicas, sizeBytes } = applied.value
    return followVolume(
      invocation,
      client,
      applied.value,
      `changed: ${memory(sizeBytes)}, ${count(replicas, 'replica')}`,
    )
  },
}
